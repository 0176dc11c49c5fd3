"""``advise``, ``lint`` and a pack print the same figures on the same files."""

import json
import random
import re
from pathlib import Path

import pytest
from craft_cli.pytest_plugin import RecordingEmitter

from host_projects import BLOCK, SNAP_YAML, SNAPCRAFT_YAML, write_policy
from snapcraft_compression_advisor.cli.main import main
from snapcraft_compression_advisor.host.advisor import Advisor
from snapcraft_compression_advisor.host.decision import Artifact
from trees import fill

DEVICES = ("nvme-laptop", "hdd-laptop", "sbc-emmc", "sata-ssd-laptop")
PAYS = {"min-saving": "0.1ms", "max-launches": "1000"}
SAVED = re.compile(r"lzo (?:would start|starts) (.+?) faster \((.+?)\)")
GROWN = re.compile(r"[Dd]ownloads? grows? by (\S+ \S+) \((.+?)\)")
LINTED = re.compile(r"estimated (.+?) \((.+?)\) less.* for (\S+ \S+) .*\((\S+%)\) more")


def draw_project(folder: Path, seed: int) -> Path:
    """Make a project of a few drawn files, of which a drawn launch reads some.

    :returns: its prime directory.
    """
    lot = random.Random(seed)
    program = "#!/bin/sh\nexec cat $SNAP/data0\n"
    prime = fill(folder / "prime", {"meta/snap.yaml": SNAP_YAML, "bin/hello": program})
    read = []
    for number in range(lot.randint(1, 6)):
        # The larger ones are sampled, not compressed whole.
        count = lot.choice((2_000, 300_000, 3_000_000))
        words = [lot.randbytes(lot.randint(2, 9)) for _ in range(500)]
        noise = lot.randbytes(count // 20 + 1)
        content = noise + b"".join(lot.choices(words, k=count // 5))
        (prime / f"data{number}").write_bytes(content)
        blocks = [[0, lot.randint(0, (len(content) - 1) // BLOCK)]]
        read.append({"path": f"data{number}", "size": len(content), "blocks": blocks})
    profile = {"schema": 1, "source": "residency", "app": "hello"}
    (folder / "launch.json").write_text(json.dumps({**profile, "files": read}))
    empty = {"keys": "", "components": "", "parts": ""}
    text = SNAPCRAFT_YAML.format(base="core24", **empty)
    fill(folder, {"snap/snapcraft.yaml": text})
    policy = {
        **(PAYS if seed % 3 else {}),
        "devices": f"[{', '.join(lot.sample(DEVICES, k=2))}]",
        "report": "packed.json",
    }
    write_policy(folder, "".join(f"{key}: {policy[key]}\n" for key in policy))
    return prime


@pytest.mark.parametrize("seed", range(12))
def test_advise_lint_and_pack_print_the_same_figures(
    tmp_path: Path,
    seed: int,
    capsys: pytest.CaptureFixture[str],
    emitter: RecordingEmitter,
) -> None:
    prime = draw_project(tmp_path, seed)

    def printed(*words: str) -> str:
        assert main([words[0], str(prime), *words[1:]]) in {0, 1}
        return capsys.readouterr().out

    advised = " ".join(printed("advise").split())
    report = json.loads(printed("advise", "--format", "json"))
    (linted,) = json.loads(printed("lint", "--format", "json"))["payloads"]
    advisor = Advisor(project_dir=tmp_path)
    advisor.before_pack(Artifact(prime_dir=prime, compression="xz"))
    shown = [
        str(each.args[1]) for each in emitter.interactions if each.args[0] == "progress"
    ]
    packed = " ".join(each.strip() for each in shown)

    written = json.loads((tmp_path / "packed.json").read_text())
    assert written["launches"] == report["launches"]
    assert written["recommendation"] == report["recommendation"]
    sizes = report["trial"]["codecs"]
    assert written["trial"]["codecs"]["xz"] == sizes["xz"]
    assert written["trial"]["codecs"]["lzo"] == sizes["lzo"]
    assert linted["figures"]["image_bytes"] == sizes["xz"]["image_bytes"]
    (launch,) = report["launches"]
    figures = {
        each["device"]: each["added_s"] for each in linted["figures"]["launches"]
    }
    assert figures.keys() == launch["devices"].keys()
    for device, by_codec in launch["devices"].items():
        assert figures[device] == pytest.approx(by_codec["xz"]["added_s"], abs=1e-6)
    shown_figures = SAVED.findall(advised) + GROWN.findall(advised)
    assert shown_figures == SAVED.findall(packed) + GROWN.findall(packed)
    messages = [
        each["message"] for each in linted["findings"] if each["rule"] == "SCA101"
    ]
    if report["recommendation"]["verdict"] == "change":
        ((saved, ends, grown, share),) = LINTED.findall(" ".join(messages))
        assert shown_figures == [(saved, ends), (grown, share)]
    else:
        undecided = report["recommendation"]["verdict"] == "undecided"
        assert ["undecided" in each for each in messages] == [True] * undecided
