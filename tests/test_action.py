from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from averment.report.markdown import MARKER

ROOT = Path(__file__).parents[1]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]
BASH = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c"]
"""How the runner starts `shell: bash`."""

DOCUMENT = "version: 1\nassertions:\n  - {id: done, kind: tool_call, name: issue_refund}\n"
GOOD = {"spans": [{"type": "tool_call", "name": "issue_refund"}]}
BAD: dict[str, Any] = {"spans": []}
BLIND = {"transcript": [{"role": "agent", "text": "done"}]}


class Done(NamedTuple):
    """What a step left behind."""

    returncode: int
    outputs: Mapping[str, str]
    summary: str
    printed: str


Run = Callable[..., Done]


def _step(name: str) -> dict[str, Any]:
    (step,) = (step for step in STEPS if step.get("name") == name)
    return step


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Runs a step as the runner does, in a folder with a document and three conversations."""
    work, temp = tmp_path / "work", tmp_path / "temp"
    for folder in (work / "calls", temp):
        folder.mkdir(parents=True)
    (work / "d.yaml").write_text(DOCUMENT, encoding="utf-8")
    for name, conversation in (("good", GOOD), ("bad", BAD), ("blind", BLIND)):
        (work / "calls" / f"{name}.json").write_text(json.dumps(conversation), encoding="utf-8")

    def ran(name: str, **given: str) -> Done:
        step = _step(name)
        files = {"GITHUB_OUTPUT": tmp_path / "output", "GITHUB_STEP_SUMMARY": tmp_path / "summary"}
        for file in files.values():
            file.write_text("", encoding="utf-8")
        environment = {
            **{key: os.environ[key] for key in ("PATH", "LANG") if key in os.environ},
            **dict.fromkeys(step.get("env", {}), ""),
            **{key: str(file) for key, file in files.items()},
            "AVERMENT": str(Path(sys.executable).parent / "averment"),
            "RUNNER_TEMP": str(temp),
            "GITHUB_ACTIONS": "true",
            "GITHUB_REPOSITORY": "acme/desk",
            "GITHUB_RUN_ID": "7",
            "GITHUB_SERVER_URL": "https://github.com",
            "FOLDER": ACTION["inputs"]["folder"]["default"],
            **given,
        }
        done = subprocess.run(
            [*BASH, step["run"]],
            cwd=work,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            check=False,
            timeout=300,
        )
        lines = files["GITHUB_OUTPUT"].read_text(encoding="utf-8").splitlines()
        return Done(
            done.returncode,
            dict(line.split("=", 1) for line in lines),
            files["GITHUB_STEP_SUMMARY"].read_text(encoding="utf-8"),
            done.stdout,
        )

    return ran


def test_every_script_names_its_shell_and_holds_no_expression() -> None:
    """What a workflow says is handed to scripts in the environment, never written into their text."""
    scripts = [step for step in STEPS if "run" in step]
    assert len(scripts) == 4
    for step in scripts:
        assert step["shell"] == "bash"
        assert "${{" not in step["run"]


def test_every_expression_is_of_something_that_there_is() -> None:
    """Inputs and outputs that are used are declared, and those that are declared are used."""
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    assert set(re.findall(r"\binputs\.([\w-]+)", text)) == set(ACTION["inputs"])
    ids = {step["id"] for step in STEPS if "id" in step}
    assert {name for name, _ in re.findall(r"\bsteps\.(\w+)\.outputs\.([\w-]+)", text)} == ids
    assert all(
        described["description"] for described in (*ACTION["inputs"].values(), *ACTION["outputs"].values())
    )


def test_the_token_reaches_the_comment_alone() -> None:
    """Commands of a suite run agents, which have no business with it."""
    assert [step["name"] for step in STEPS if "inputs.token" in str(step)] == ["Comment on the pull request"]


def test_the_gate_is_the_last_step() -> None:
    """Reports are uploaded and commented whatever the verdict, and no failure of theirs hides it."""
    assert STEPS[-1]["name"] == "Gate"
    assert "if" not in STEPS[-1]
    assert _step("Upload the reports")["continue-on-error"] is True


@pytest.mark.parametrize("code", ["0", "1", "2", "3"])
def test_the_gate_exits_with_the_code_of_the_run(run: Run, code: str) -> None:
    """0 yes, 1 no, 2 no verdict, 3 internal error."""
    assert run("Gate", CODE=code).returncode == int(code)


def test_the_gate_never_says_yes_without_a_code(run: Run) -> None:
    """Where the run has left none, something is wrong."""
    assert run("Gate", CODE="").returncode not in (0, 1)


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"CONVERSATIONS": "calls/good.json"}, "0"),
        ({"CONVERSATIONS": "calls/bad.json"}, "1"),
        ({"CONVERSATIONS": "calls/blind.json"}, "0"),
        ({"CONVERSATIONS": "calls/blind.json", "POLICY": "fail"}, "1"),
        ({"CONVERSATIONS": "calls/blind.json", "POLICY": "refuse"}, "2"),
        ({"CONVERSATIONS": "calls/good.json\ncalls/bad.json\n"}, "1"),
    ],
)
def test_a_run_leaves_reports_outputs_and_a_summary(
    run: Run, given: dict[str, str], code: str, tmp_path: Path
) -> None:
    """Whatever the verdict, the step succeeds, every report is there, and the summary is the Markdown."""
    done = run("Judge", DOCUMENT="d.yaml", **given)
    assert done.returncode == 0, done.printed
    assert done.outputs["exit-code"] == code
    reports = {name: done.outputs[name] for name in ("html", "markdown", "junit", "sarif", "results")}
    assert all((tmp_path / "work" / report).stat().st_size for report in reports.values())
    assert done.outputs["folder"] == "averment-reports"
    assert done.outputs["name"] == "averment"
    assert set(done.outputs) == {"exit-code", "folder", "name", *reports}
    assert done.summary == (tmp_path / "work" / reports["markdown"]).read_text(encoding="utf-8") + "\n"
    assert done.summary.startswith(MARKER)
    assert ("::error file=d.yaml,line=3" in done.printed) == (code in "12")


@pytest.mark.parametrize(
    "given",
    [
        {"DOCUMENT": "nowhere.yaml", "CONVERSATIONS": "calls/good.json"},
        {"DOCUMENT": "d.yaml", "CONVERSATIONS": "calls/*.yaml"},
        {"DOCUMENT": "d.yaml"},
        {},
        {"DOCUMENT": "d.yaml", "CONVERSATIONS": "calls/good.json", "POLICY": "maybe"},
        {"DOCUMENT": "d.yaml", "CONVERSATIONS": "calls/good.json", "ARGUMENTS": "--nonsense"},
    ],
)
def test_without_a_verdict_the_code_is_2_and_the_summary_says_so(run: Run, given: dict[str, str]) -> None:
    """Mistakes of the workflow turn no check green, and no report of a run before is taken for this one's."""
    assert run("Judge", DOCUMENT="d.yaml", CONVERSATIONS="calls/good.json").outputs["exit-code"] == "0"
    done = run("Judge", **given)
    assert done.returncode == 0
    assert done.outputs == {"exit-code": "2", "folder": "averment-reports", "name": "averment"}
    assert (
        done.summary
        == f"{MARKER}\n## averment: no verdict\n\nThe run ended with exit 2; its log says why.\n\n"
    )
    assert "error[" in done.printed


def test_globs_and_arguments_are_taken_line_by_line(run: Run) -> None:
    """A glob gives its files in order; spaces and what a shell would run are parts of a name."""
    (listed,) = re.findall(
        r"over (\d+) conversations",
        run(
            "Judge", DOCUMENT="d.yaml\npolicy:pii-leak\n", CONVERSATIONS="calls/b*.json\n\n  calls/good.json"
        ).summary,
    )
    assert listed == "3"
    done = run("Judge", DOCUMENT="d.yaml", CONVERSATIONS="calls/good.json", ARGUMENTS="--verbose\n--all\n")
    assert done.outputs["exit-code"] == "0"


@pytest.mark.parametrize(
    "name", ["$(touch hacked)", "`touch hacked`", "; touch hacked", "a b.json", "-x.json"]
)
def test_no_input_is_run_or_split(run: Run, tmp_path: Path, name: str) -> None:
    """Names of files reach averment as they are, whatever a shell would make of them."""
    work = tmp_path / "work"
    (work / name).write_text(json.dumps(GOOD), encoding="utf-8")
    done = run("Judge", DOCUMENT="d.yaml", CONVERSATIONS=name)
    assert done.outputs["exit-code"] == "0", done.printed
    run("Judge", **dict.fromkeys(("DOCUMENT", "SUITE", "POLICY", "ARGUMENTS", "KEY", "FOLDER"), name))
    assert not (work / "hacked").exists()


def test_an_input_forges_no_output(run: Run) -> None:
    """A line break in an input starts no output of its own."""
    given = {"FOLDER": "reports\nexit-code=0", "KEY": "a\nexit-code=0"}
    done = run("Judge", DOCUMENT="d.yaml", CONVERSATIONS="calls/bad.json", **given)
    assert done.outputs["exit-code"] == "1"
    assert done.outputs["folder"] == "reports"
    assert done.outputs["name"] == "averment-a-exit-code-0"


def test_a_suite_is_run(run: Run, tmp_path: Path) -> None:
    """The suite of the repository without any input, another one by its file."""
    suite = "version: 1\nsuite:\n  - {name: desk, document: d.yaml, conversations: [calls/b*.json]}\n"
    (tmp_path / "work" / "averment.yaml").write_text(suite, encoding="utf-8")
    (tmp_path / "work" / "good.yaml").write_text(suite.replace("b*", "g*"), encoding="utf-8")
    assert run("Judge").outputs["exit-code"] == "1"
    assert run("Judge", SUITE="good.yaml").outputs["exit-code"] == "0"


GH = """#!{python}
import json, os, sys
args = sys.argv[1:]
body = next((open(arg[6:], encoding="utf-8").read() for arg in args if arg.startswith("body=@")), None)
with open({log!r}, "a", encoding="utf-8") as log:
    print(json.dumps({{"args": args, "body": body, "as": os.environ.get("GH_TOKEN")}}), file=log)
if "--paginate" in args:
    print(os.environ.get("FOUND", ""))
sys.exit(int(os.environ.get("GH_EXIT", "0")))
"""


@pytest.fixture
def comment(run: Run, tmp_path: Path) -> Callable[..., tuple[Done, list[dict[str, Any]]]]:
    """Runs the step that comments, behind a run, with a `gh` that only writes down how it is called."""
    log = tmp_path / "calls"
    tool = tmp_path / "bin" / "gh"
    tool.parent.mkdir()
    tool.write_text(GH.format(python=sys.executable, log=str(log)), encoding="utf-8")
    tool.chmod(0o755)

    def commented(*, key: str = "", **given: str) -> tuple[Done, list[dict[str, Any]]]:
        judged = run("Judge", DOCUMENT="d.yaml", CONVERSATIONS="calls/bad.json", KEY=key)
        log.write_text("", encoding="utf-8")
        done = run(
            "Comment on the pull request",
            **{"NAME": judged.outputs["name"], "NUMBER": "12", "GH_TOKEN": "t", **given},
            PATH=f"{tool.parent}{os.pathsep}{os.environ['PATH']}",
        )
        return done, [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]

    return commented


def test_the_first_comment_is_made(comment: Callable[..., tuple[Done, list[dict[str, Any]]]]) -> None:
    """Where there is none of ours, one is made, with the report and the way to the log."""
    done, (looked, made) = comment()
    assert done.returncode == 0
    assert not done.printed
    assert "number=12" in looked["args"]
    assert 'startswith(\\"<!-- averment -->\\")' in json.dumps(looked["args"][-1])[1:-1].replace("\\\\", "\\")
    assert "viewerDidAuthor and" in looked["args"][-1]
    assert made["args"][:2] == ["api", "repos/acme/desk/issues/12/comments"]
    assert made["as"] == "t"
    assert made["body"].startswith(f"{MARKER}\n## averment: the gate says no\n")
    assert made["body"].endswith(
        "\n[Log and reports](https://github.com/acme/desk/actions/runs/7) of `averment`\n"
    )


def test_our_comment_is_edited(comment: Callable[..., tuple[Done, list[dict[str, Any]]]]) -> None:
    """The first that is found is edited; there is no second one."""
    done, (_, edited) = comment(FOUND="IC_1\nIC_2")
    assert done.returncode == 0
    assert edited["args"][:4] == ["api", "graphql", "-f", "id=IC_1"]
    assert "updateIssueComment" in edited["args"][-1]
    assert edited["body"].startswith(MARKER)


def test_each_key_has_a_comment_of_its_own(comment: Callable[..., tuple[Done, list[dict[str, Any]]]]) -> None:
    """The jobs of a matrix do not overwrite one another's; no key ends the marker."""
    _, (looked, made) = comment(key='py3.12"-->')
    assert made["body"].startswith("<!-- averment py3.12---- -->\n## averment")
    assert "<!-- averment py3.12---- -->" in looked["args"][-1]


@pytest.mark.parametrize("given", [{"GH_EXIT": "1"}, {"GH_EXIT": "1", "FOUND": "IC_1"}])
def test_a_comment_that_fails_is_a_notice(
    comment: Callable[..., tuple[Done, list[dict[str, Any]]]], given: dict[str, str]
) -> None:
    """From a fork the token can't write: the step succeeds, and the gate decides."""
    done, calls = comment(**given)
    assert done.returncode == 0
    assert done.printed.startswith("::notice title=averment::The verdicts could not be commented")
    assert len(calls) == 1


def test_without_gh_there_is_a_notice(run: Run, tmp_path: Path) -> None:
    """A machine of one's own may have none."""
    run("Judge", DOCUMENT="d.yaml", CONVERSATIONS="calls/bad.json")
    for tool in ("bash", "tail"):
        (tmp_path / tool).symlink_to(subprocess.check_output(["which", tool], text=True).strip())
    done = run("Comment on the pull request", NAME="averment", NUMBER="12", PATH=str(tmp_path))
    assert done.returncode == 0
    assert "::notice title=averment::" in done.printed


PAGE = (ROOT / "docs" / "continuous-integration.md").read_text(encoding="utf-8")
WORKFLOW, CODE_SCANNING, GITLAB = (
    yaml.safe_load(block) for block in re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
)


def test_the_page_names_every_input_and_output() -> None:
    """Workflows that are shown give inputs that there are, with the permission that a comment needs."""
    (step,) = (step for step in WORKFLOW["jobs"]["verdicts"]["steps"] if "averment" in step["uses"])
    assert set(step["with"]) <= set(ACTION["inputs"])
    assert WORKFLOW["permissions"] == {"contents": "read", "pull-requests": "write"}
    table = PAGE.partition("| input |")[2].partition("\n\n")[0]
    assert {
        name for cell in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE) for name in cell.split("`")[1::2]
    } == set(ACTION["inputs"])
    named = PAGE.partition("Its outputs are ")[2].partition(". ")[0]
    assert set(named.split("`")[1::2]) == set(ACTION["outputs"])
    used = re.findall(r"steps\.averment\.outputs\.([\w-]+)", str(CODE_SCANNING))
    assert used
    assert set(used) <= set(ACTION["outputs"])


CURL = """#!{python}
import json, sys
with open({log!r}, "a", encoding="utf-8") as log:
    print(json.dumps(sys.argv[1:]), file=log)
if "?per_page" in sys.argv[-1]:
    print({notes!r})
"""


@pytest.mark.parametrize(
    ("bodies", "method", "end"),
    [(["hello"], "POST", "/notes"), (["hello", f"{MARKER}\nx", f"{MARKER}\ny"], "PUT", "/notes/1")],
)
def test_the_recipe_for_gitlab_keeps_one_note(
    tmp_path: Path, bodies: list[str], method: str, end: str
) -> None:
    """The first note with the marker is edited, and one is made where there is none."""
    log, tool = tmp_path / "log", tmp_path / "curl"
    notes = json.dumps([{"id": index, "body": body} for index, body in enumerate(bodies)])
    tool.write_text(CURL.format(python=sys.executable, log=str(log), notes=notes), encoding="utf-8")
    tool.chmod(0o755)
    (tmp_path / "verdicts.md").write_text(MARKER, encoding="utf-8")
    (script,) = GITLAB["verdicts"]["after_script"]
    subprocess.run(
        [*BASH, script],
        cwd=tmp_path,
        check=True,
        env={
            "PATH": os.pathsep.join([str(tmp_path), str(Path(sys.executable).parent), os.environ["PATH"]]),
            "AVERMENT_TOKEN": "t",
            "CI_API_V4_URL": "https://gitlab.example/api/v4",
            "CI_PROJECT_ID": "3",
            "CI_MERGE_REQUEST_IID": "5",
        },
    )
    looked, wrote = (json.loads(line) for line in log.read_text(encoding="utf-8").splitlines())
    assert looked[-1] == "https://gitlab.example/api/v4/projects/3/merge_requests/5/notes?per_page=100"
    assert wrote[wrote.index("--request") + 1] == method
    assert "body@verdicts.md" in wrote
    assert wrote[-1] == f"https://gitlab.example/api/v4/projects/3/merge_requests/5{end}"


def test_the_recipe_for_gitlab_judges_and_keeps_the_reports(run: Run) -> None:
    """Its command line is one that averment takes, and what it writes is what is kept."""
    line = GITLAB["verdicts"]["script"][-1]
    words = line.split()
    assert words[:2] == ["averment", "run"]
    written = {
        words[index + 1] for index, word in enumerate(words) if word in {"--html", "--markdown", "--sarif"}
    }
    artifacts = GITLAB["verdicts"]["artifacts"]
    assert set(artifacts["paths"]) == written
    assert artifacts["reports"]["junit"] == words[words.index("--junit") + 1]
    done = run("Judge", DOCUMENT="d.yaml", CONVERSATIONS="calls/good.json", ARGUMENTS="\n".join(words[4:]))
    assert done.outputs["exit-code"] == "0", done.printed
