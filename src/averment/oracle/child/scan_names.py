"""The names by which Python code reads or changes the world, and the codes that the scan reports them under.

Names are full ones, `module.attribute`; built-in functions stand under `builtins`.
"""

from __future__ import annotations

__all__ = [
    "CALLS",
    "CODES",
    "HARMLESS",
    "METHODS_THAT_WRITE",
    "OPENERS",
    "PACKAGES",
    "PATH_READS",
    "PATH_WRITES",
    "RANDOM_FUNCTIONS",
    "READS_OF_FILES",
    "REFERENCES",
    "SEEDED",
    "WITHOUT_ARGUMENTS",
]

CODES: dict[str, dict[str, str]] = {
    "reads_clock": {
        "about": "The code asks what time it is: its answer depends on when it runs.",
        "mend": "Take the time from `ctx.clock`.",
    },
    "unseeded_random": {
        "about": "The code draws randomness that follows from no seed: two runs differ.",
        "mend": "Make a generator of its own from the seed: `random.Random(ctx.seed)`.",
    },
    "reads_environment": {
        "about": "The code asks for something that differs between machines or processes: environment variables, the "
        "working folder, the locale, the time zone, the host, standard input.",
        "mend": "Put the value into the fixtures, or write it out.",
    },
    "reads_file": {
        "about": "The code reads a file that is not found from its own place: what it finds depends on the machine.",
        "mend": "Keep the file in the pack and find it by `Path(__file__).with_name(...)`, or put its content into "
        "the fixtures.",
    },
    "writes_file": {
        "about": "The code writes files: what one episode leaves there, the next may find.",
        "mend": "Keep the state in the module, where `reset` sets it back.",
    },
    "uses_network": {
        "about": "The code talks to other machines; workers have no network.",
        "mend": "Put what it would answer into the fixtures; an oracle that is a service is declared as an endpoint.",
    },
    "starts_process": {
        "about": "The code starts processes; workers can't.",
        "mend": "Do the work in the function itself.",
    },
    "starts_thread": {
        "about": "The code starts threads: in which order they do things is up to the machine.",
        "mend": "Do the work in the function itself, one step after the other.",
    },
    "native_code": {
        "about": "The code calls into native libraries, whose deeds can neither be seen nor kept the same.",
        "mend": "Use the standard library of Python.",
    },
    "hash_order": {
        "about": "The code depends on hashes of strings or on where objects lie, which differ in every process; the "
        "order of a set follows from them.",
        "mend": "Sort before the order matters; for a digest use `hashlib`.",
    },
    "patches_module": {
        "about": "The code changes a module of the standard library for all who use it.",
        "mend": "Call a function of your own instead of replacing theirs.",
    },
    "unparsable": {
        "about": "The file is not Python that can be parsed, and nothing in it was looked at.",
        "mend": "Mend the syntax at the place that is named.",
    },
}
"""What each code means, and the next step."""


def _named(module: str, names: str) -> list[str]:
    return [f"{module}.{name}" for name in names.split()]


_REFERENCES: dict[str, list[str]] = {
    "reads_clock": [
        *_named("time", "time time_ns monotonic monotonic_ns perf_counter perf_counter_ns process_time"),
        *_named("time", "process_time_ns thread_time thread_time_ns clock_gettime clock_gettime_ns"),
        *_named("datetime.datetime", "now utcnow today"),
        "datetime.date.today",
    ],
    "unseeded_random": [
        *_named("uuid", "uuid1 uuid4 uuid6 uuid7"),
        *_named("os", "urandom getrandom"),
        "random.SystemRandom",
    ],
    "reads_environment": [
        *_named(
            "os", "environ environb getenv getenvb getcwd getcwdb getpid getppid uname cpu_count getlogin"
        ),
        *_named("os", "getuid geteuid getgid getegid getloadavg"),
        *_named("os.path", "expanduser expandvars"),
        *_named("pathlib.Path", "cwd home"),
        *_named("time", "tzname timezone altzone daylight tzset mktime"),
        *_named("datetime.date", "fromtimestamp"),
        *_named("sys", "argv stdin"),
        *_named("socket", "gethostname getfqdn"),
        *_named("uuid", "getnode"),
        *_named("getpass", "getuser getpass"),
        *_named("tempfile", "gettempdir"),
    ],
    "starts_process": [
        *_named("os", "system popen fork forkpty posix_spawn posix_spawnp"),
        *_named("os", "execl execle execlp execlpe execv execve execvp execvpe"),
        *_named("os", "spawnl spawnle spawnlp spawnlpe spawnv spawnve spawnvp spawnvpe"),
        *_named("pty", "fork spawn"),
        *_named("asyncio", "create_subprocess_exec create_subprocess_shell"),
        "concurrent.futures.ProcessPoolExecutor",
        "concurrent.futures.process.ProcessPoolExecutor",
    ],
    "starts_thread": [
        *_named("_thread", "start_new_thread start_new"),
        "asyncio.to_thread",
        "multiprocessing.pool.ThreadPool",
    ],
    "uses_network": _named("asyncio", "open_connection start_server open_unix_connection start_unix_server"),
    "native_code": [
        *_named("ctypes", "CDLL PyDLL OleDLL WinDLL cdll pydll oledll windll pythonapi"),
        *_named("ctypes", "memmove memset string_at wstring_at"),
        "cffi.FFI",
    ],
}
REFERENCES: dict[str, str] = {name: code for code, names in _REFERENCES.items() for name in names}
"""Names whose mere use is reported, called or handed on."""

_CALLS: dict[str, list[str]] = {
    "starts_thread": [
        *_named("threading", "Thread Timer"),
        "concurrent.futures.ThreadPoolExecutor",
        "concurrent.futures.thread.ThreadPoolExecutor",
    ],
    "writes_file": [
        *_named(
            "os", "remove unlink rename renames replace mkdir makedirs rmdir removedirs chmod chown link"
        ),
        *_named("os", "symlink truncate utime mkfifo mknod"),
        *_named(
            "shutil", "copy copy2 copyfile copymode copystat copytree move rmtree make_archive unpack_archive"
        ),
        *_named(
            "tempfile", "TemporaryFile NamedTemporaryFile SpooledTemporaryFile TemporaryDirectory mkstemp"
        ),
        *_named("tempfile", "mkdtemp mktemp"),
        *_named("shelve", "open"),
        *_named("dbm", "open"),
        *_named("logging", "FileHandler"),
    ],
    "reads_environment": ["builtins.input"],
}
CALLS: dict[str, str] = {name: code for code, names in _CALLS.items() for name in names}
"""Names whose call is reported; as a type in a hint or an `isinstance` they do nothing."""

PACKAGES: dict[str, str] = {
    **dict.fromkeys(
        (
            *("socket", "socketserver", "urllib.request", "http.client", "http.server", "ftplib", "smtplib"),
            *("poplib", "imaplib", "telnetlib", "nntplib", "xmlrpc", "wsgiref.simple_server"),
            *(
                "requests",
                "httpx",
                "aiohttp",
                "urllib3",
                "websocket",
                "websockets",
                "grpc",
                "boto3",
                "botocore",
            ),
            *("redis", "pymongo", "psycopg", "psycopg2", "pymysql", "paramiko"),
        ),
        "uses_network",
    ),
    "subprocess": "starts_process",
    "multiprocessing": "starts_process",
    "secrets": "unseeded_random",
    "locale": "reads_environment",
    "platform": "reads_environment",
    "numpy.random": "unseeded_random",
}
"""Modules of which any call is reported, but for those that make an exception or that `HARMLESS` names."""

RANDOM_FUNCTIONS = frozenset(
    _named("random", "betavariate binomialvariate choice choices expovariate gammavariate gauss getrandbits")
    + _named("random", "lognormvariate normalvariate paretovariate randbytes randint random randrange sample")
    + _named("random", "shuffle triangular uniform vonmisesvariate weibullvariate")
)
"""Functions that draw from the generator which a whole process shares."""

SEEDED = frozenset(
    [
        *_named("random", "Random seed"),
        *_named(
            "numpy.random", "default_rng seed RandomState SeedSequence PCG64 PCG64DXSM MT19937 Philox SFC64"
        ),
    ]
)
"""Calls that are sound when they are given a seed."""

HARMLESS = frozenset(
    [
        *_named("secrets", "compare_digest"),
        *_named("subprocess", "list2cmdline"),
        *_named("numpy.random", "Generator"),
        *_named("socket", "inet_aton inet_ntoa inet_pton inet_ntop htonl htons ntohl ntohs"),
    ]
)
"""Functions of `PACKAGES` that do nothing of the kind."""

WITHOUT_ARGUMENTS: dict[str, tuple[int, str, str]] = {
    "time.localtime": (1, "reads_clock", "reads_environment"),
    "time.gmtime": (1, "reads_clock", ""),
    "time.ctime": (1, "reads_clock", "reads_environment"),
    "time.asctime": (1, "reads_clock", ""),
    "time.strftime": (2, "reads_clock", ""),
    "datetime.datetime.fromtimestamp": (2, "reads_environment", ""),
}
"""Functions that ask for what they are not given: how many arguments they need, the code without, the code with."""

OPENERS = frozenset(
    ["builtins.open", *(f"{module}.open" for module in ("io", "codecs", "gzip", "bz2", "lzma"))]
)
"""Functions that open a file; the second argument is the mode."""

READS_OF_FILES = frozenset(
    [
        *_named("os", "open listdir scandir walk stat lstat access readlink"),
        *_named("os.path", "exists lexists isfile isdir islink ismount getmtime getatime getctime getsize"),
        *_named("glob", "glob iglob"),
        *_named("linecache", "getline getlines"),
        *_named("fileinput", "input"),
    ]
)
"""Functions that look at files; reported for a place that is not the pack's own."""

PATH_READS = frozenset(
    {"read_text", "read_bytes", "exists", "is_file", "is_dir", "iterdir", "glob", "rglob", "stat"}
)
"""Methods of `pathlib.Path` that look at files."""

METHODS_THAT_WRITE = frozenset({"write_text", "write_bytes"})
"""Methods of `pathlib.Path` that write, and that no other type of the standard library has."""

PATH_WRITES = METHODS_THAT_WRITE | {
    *("unlink", "mkdir", "touch", "rmdir", "rename", "replace", "chmod", "symlink_to", "hardlink_to"),
}
"""Methods of `pathlib.Path` that change files."""
