"""System calls that a worker is refused, by name, with their numbers on x86_64 and on aarch64.

Numbers are those of the kernel's `unistd.h`, which never change once given; None where a machine has no such call.
Calls newer than `NEWEST` are refused as unknown, so that a kernel of next year opens no door.
"""

from __future__ import annotations

__all__ = [
    "CLONE",
    "CLONE3",
    "FCNTL",
    "IOCTL",
    "KILL",
    "MACHINES",
    "NEWEST",
    "PRCTL",
    "PRLIMIT64",
    "REFUSED",
    "SEALING",
    "TGKILL",
]

MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
"""By `platform.machine()`: the column of the tables, and the `AUDIT_ARCH` that a filter compares with."""

NEWEST = 450
"""The newest system call that was looked at: `set_mempolicy_home_node` of Linux 5.17."""

# These depend on their arguments.
CLONE = (56, 220)
CLONE3 = (435, 435)
KILL = (62, 129)
TGKILL = (234, 131)
PRLIMIT64 = (302, 261)
FCNTL = (72, 25)
IOCTL = (16, 29)
PRCTL = (157, 167)

REFUSED: dict[str, tuple[int | None, int | None]] = {
    # network
    "socket": (41, 198),
    "connect": (42, 203),
    "bind": (49, 200),
    "listen": (50, 201),
    "accept": (43, 202),
    "accept4": (288, 242),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    # programs and processes
    "execve": (59, 221),
    "execveat": (322, 281),
    "fork": (57, None),
    "vfork": (58, None),
    "setsid": (112, 157),
    "setpgid": (109, 154),
    "unshare": (272, 97),
    "setns": (308, 268),
    "personality": (135, 92),
    "uselib": (134, None),
    # other processes
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "kcmp": (312, 272),
    "pidfd_open": (434, 434),
    "pidfd_getfd": (438, 438),
    "pidfd_send_signal": (424, 424),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "tkill": (200, 130),
    "setpriority": (141, 140),
    "ioprio_set": (251, 30),
    "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119),
    "sched_setattr": (314, 274),
    "sched_setaffinity": (203, 122),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
    # memory and queues shared between processes
    "shmget": (29, 194),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "shmdt": (67, 197),
    "msgget": (68, 186),
    "msgsnd": (69, 189),
    "msgrcv": (70, 188),
    "msgctl": (71, 187),
    "semget": (64, 190),
    "semop": (65, 193),
    "semctl": (66, 191),
    "semtimedop": (220, 192),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
    # modes, owners and times of files, which Landlock leaves alone
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "chown": (92, None),
    "lchown": (94, None),
    "fchown": (93, 55),
    "fchownat": (260, 54),
    "utime": (132, None),
    "utimes": (235, None),
    "utimensat": (280, 88),
    "futimesat": (261, None),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    "truncate": (76, 45),
    "open_by_handle_at": (304, 265),
    "name_to_handle_at": (303, 264),
    # the limits and rights of the process itself
    "setrlimit": (160, 164),
    "setuid": (105, 146),
    "setgid": (106, 144),
    "setreuid": (113, 145),
    "setregid": (114, 143),
    "setresuid": (117, 147),
    "setresgid": (119, 149),
    "setgroups": (116, 159),
    "setfsuid": (122, 151),
    "setfsgid": (123, 152),
    "capset": (126, 91),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
    # the machine
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "mount_setattr": (442, 442),
    "move_mount": (429, 429),
    "open_tree": (428, 428),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "fanotify_init": (300, 262),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    "iopl": (172, None),
    "ioperm": (173, None),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "syslog": (103, 116),
    "vhangup": (153, 58),
    "modify_ldt": (154, None),
    "lookup_dcookie": (212, 18),
    "nfsservctl": (180, 42),
}

SEALING = frozenset(("capset", "fork", "setpgid", "setrlimit", "vfork"))
"""What the process that workers are forked from needs, to fork and for a worker to seal itself."""
