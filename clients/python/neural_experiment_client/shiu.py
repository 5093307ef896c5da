"""Stands in for the functions of Shiu et al. 2024 (philshiu/Drosophila_brain_model)."""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
import warnings
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from .client import Lab
from .documents import Json, is_id

#: Parameters as `model.py` of Shiu et al. 2024 names them, in SI units. `run_exp` takes theirs, with units, too.
#: Those in `_CONSTANTS` may not be changed: the model of the service has no others.
default_params: Json = {
    "t_run": 1.0,  # duration of a trial, s
    "n_run": 30,  # trials
    "r_poi": 150.0,  # rate of the Poisson input of neu_exc, Hz
    "r_poi2": 0.0,  # rate of the Poisson input of neu_exc2, Hz
    "v_0": -0.052,  # resting potential, V
    "v_rst": -0.052,  # reset potential, V
    "v_th": -0.045,  # threshold, V
    "t_mbr": 0.020,  # membrane time constant, s
    "tau": 0.005,  # synaptic time constant, s
    "t_rfc": 0.0022,  # refractory period, s
    "t_dly": 0.0018,  # synaptic delay, s
    "w_syn": 0.000275,  # weight of a synapse, V
    "f_poi": 250,  # weight of an input event, in synapses
}


_CONSTANTS = ("v_0", "v_rst", "t_mbr", "tau")
#: Notebooks change default_params itself.
_MODEL = dict(default_params)
#: SHA-256 of the equations of the model without white space, as their file has them.
_EQUATIONS = {
    "eqs": "7beaf415a4c52eb3eee44f46399ceaf9c9444944558ab80688400088d875732e",
    "eq_th": "b1edbf272b0711f4b2393bf52fdd9a7d301b0d332e80780b7a9404f36e806e75",
    "eq_rst": "003a11a0578681fc37ac9254303f9c9e457806de17b38b10fe83fbf03d1d14de",
}


def run_exp(
    exp_name: str,
    neu_exc: Collection[int],
    path_res: str | os.PathLike[str],
    path_comp: object = None,
    path_con: object = None,
    params: Mapping[str, Any] = default_params,
    neu_slnc: Collection[int] = (),
    neu_exc2: Collection[int] = (),
    n_proc: int = -1,
    force_overwrite: bool = False,
    *,
    lab: Lab | None = None,
    seed: int | None = 42,
    on_missing: str = "skip",
) -> None:
    """Stands in for `run_exp` of Shiu et al. 2024: the same arguments, and the same file of spikes.

    Writes `path_res`/`exp_name`.parquet with a row for each spike of any neuron: `t` (s), `trial` (from 0),
    `flywire_id`, `exp_name`. Their `load_exps` and `get_rate` read it. A file that is there is kept if an equal call
    made it with an equal model of the service, and is otherwise an error.

    Args:
        exp_name: name of the experiment and of the file.
        neu_exc: root ids of the neurons that get Poisson input at `params["r_poi"]`, in Hz.
        path_res: folder of the file; made if it is missing.
        path_comp: not read; the neurons are those of the service, with ids of release 783.
        path_con: not read; the wiring is that of the service.
        params: `t_run` (s), `n_run`, `r_poi` and `r_poi2` (Hz), `w_syn` and `v_th` (V), `t_rfc` and `t_dly` (s) and
            `f_poi`, as numbers or as quantities of Brian 2. The other constants and the equations of the model may be
            there, unchanged.
        neu_slnc: root ids of the neurons whose outputs are cut.
        neu_exc2: root ids of the neurons that get Poisson input at `params["r_poi2"]`, in Hz.
        n_proc: not used; the service decides.
        force_overwrite: whether to run the experiment and replace the file that is there, whatever it is.
        lab: the service; by default at the address in NEURAL_EXPERIMENT_URL, or else http://localhost:8080.
        seed: of the random numbers; equal seeds give equal spikes, and pair experiments: trial k of every call has the
            same input events, so that what differs between two calls differs by what they changed and not by chance.
            None takes another seed for each `exp_name`, so that calls are independent, as those of Brian 2 are.
        on_missing: `skip` leaves out ids that the model lacks, such as some of release 630, and warns of them; `error`
            refuses them.

    Raises:
        ValueError: `params` asks for another model, an id is no integer, or the brain of the service has no root ids.
        FileExistsError: the file that is there was not made by an equal call.
        LabError: the service refused the experiment.
        ImportError: there are more spikes than the service sends at once, and pyarrow is missing.
    """
    path = Path(path_res) / f"{exp_name}.parquet"
    document = _shiu_document(exp_name, neu_exc, neu_exc2, neu_slnc, params)
    document.update(seed=_seed_of(exp_name) if seed is None else seed, on_missing=on_missing)
    lab = lab or Lab()
    _check_has_root_ids(lab)
    plan = _planned(lab, document)
    if path.exists() and not force_overwrite:
        _check_made_by(plan, path)
        print(f"{exp_name}: kept {path}, which an equal call made; force_overwrite=True would replace it.")
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    started_s = time.monotonic()
    lab.download(path, table="spikes", names="shiu", **document)
    print(f"{exp_name}: {document['trials']} trials in {time.monotonic() - started_s:.1f} s, spikes in {path}.")


def _seed_of(exp_name: str) -> int:
    return int.from_bytes(hashlib.sha256(exp_name.encode()).digest()[:4], "big")


def _check_has_root_ids(lab: Lab) -> None:
    model = lab._get("/api/v1/model")
    if model.get("wiring") == "synthetic":
        raise ValueError(
            f"Published root ids need a measured brain, and {lab.url} serves {model['name']}: in a checkout of the "
            "service `npm run up -- --dataset flywire-783` downloads and compiles one, which Lab.local('flywire-783') "
            "serves."
        )


def _planned(lab: Lab, document: Json) -> Json:
    """The dry run of an experiment. Warns of ids that the model lacks; sets that it lacks as a whole are taken out."""
    plan = lab.dry_run(**document)
    resolved = plan["resolved"]
    missing = {each for selected in resolved.values() for each in selected.get("missing", [])}
    empty = {name for name, selected in resolved.items() if selected.get("neurons") == 0}
    lost = [name for name in list(document["inputs"]) if f"inputs.{name}" in empty]
    for name in lost:
        del document["inputs"][name]
    if "silence" in empty:
        lost.append("neu_slnc")
        document["silence"] = []
    if lost:
        # The same experiment as without these sets, so it has the same id.
        plan = lab.dry_run(**document)
    if missing:
        whole = f"; that is all of {' and '.join(lost)}" if lost else ""
        nothing = "" if document["inputs"] or not lost else ", so no neuron is stimulated"
        text = (
            f"The model lacks, and the experiment leaves out: {', '.join(sorted(missing))}{whole}{nothing}. Ids of "
            "another release of FlyWire can be mapped with `flywire.update_ids` of the package fafbseg."
        )
        warnings.warn(text, stacklevel=3)
    return plan


def _check_made_by(plan: Json, path: Path) -> None:
    """Raises FileExistsError unless a file has the spikes of this experiment, all of them."""
    metadata = _parquet_metadata(path)
    if metadata.get("id") == plan["id"] and "truncated" not in metadata:
        return
    if "experiment" not in metadata:
        fault = "was not made by run_exp of this client"
    elif metadata.get("id") == plan["id"]:
        fault = "lacks spikes beyond a limit of the service"
    else:
        others = {**json.loads(metadata["experiment"]), "model": metadata.get("model")}
        here = {**plan["experiment"], "model": plan["model"]}
        names = [name for name in here if here[name] != others.get(name)] or ["version of the answers"]
        fault = f"was made by another call, with other {', '.join(names)}"
    raise FileExistsError(
        f"{path} {fault}. Choose another exp_name or path_res, move the file away, or replace it with "
        "force_overwrite=True."
    )


def _parquet_metadata(path: Path) -> dict[str, str]:
    """The metadata that the service writes into a Parquet file; empty for any other file."""
    with open(path, "rb") as file:
        length = file.seek(0, os.SEEK_END)
        file.seek(max(0, length - 8))
        footer_length = int.from_bytes(file.read(4), "little")
        if file.read() != b"PAR1" or footer_length + 8 > length:
            return {}
        file.seek(length - 8 - footer_length)
        footer = file.read(footer_length)
    metadata = {}
    for key in ("id", "model", "experiment", "truncated"):
        # A pair of metadata in Thrift's compact protocol: field 1, a text, field 2, a text. Each text has its length
        # before it, 7 bits a byte. The service writes no such control characters into a text.
        found = re.search(rb"\x18%c%s\x18([\x80-\xff]*[\x00-\x7f])" % (len(key), key.encode()), footer)
        if found is not None:
            size = sum((byte & 127) << (7 * place) for place, byte in enumerate(found[1]))
            metadata[key] = footer[found.end() : found.end() + size].decode()
    return metadata


def _shiu_document(
    exp_name: str,
    neu_exc: Collection[int],
    neu_exc2: Collection[int],
    neu_slnc: Collection[int],
    params: Mapping[str, Any],
) -> Json:
    _check_constants(params)
    values = {**_MODEL, **params}
    duration_ms = float(values["t_run"]) * 1000
    if abs(duration_ms - round(duration_ms)) > 1e-6:
        raise ValueError(f"t_run must be a whole number of milliseconds, got {values['t_run']!r}")
    trials = int(values["n_run"])
    if trials != values["n_run"]:
        raise ValueError(f"n_run must be a whole number of trials, got {values['n_run']!r}")
    inputs = {"neu_exc": (neu_exc, "r_poi"), "neu_exc2": (neu_exc2, "r_poi2")}
    return {
        "name": exp_name,
        "inputs": {
            name: {"node_set": {"root_id": _ids(name, neurons)}, "rate_hz": float(values[rate])}
            for name, (neurons, rate) in inputs.items()
            if len(neurons) > 0
        },
        "silence": [{"root_id": _ids("neu_slnc", neu_slnc)}] if len(neu_slnc) > 0 else [],
        **_constants(values),
        "duration_ms": round(duration_ms),
        "trials": trials,
        "reports": {"spikes": {"node_set": "@all", "type": "spikes"}},
    }


def _constants(values: Mapping[str, Any]) -> Json:
    """The member `constants` of the document: those that differ from the model's, as the service names them."""

    def in_service(of: Mapping[str, Any]) -> dict[str, float]:
        synapse_v = float(of["w_syn"])
        of_thousand = {
            "synapse_mv": synapse_v,
            "threshold_mv": float(of["v_th"]),
            "refractory_ms": float(of["t_rfc"]),
            "delay_ms": float(of["t_dly"]),
            "input_event_mv": synapse_v * float(of["f_poi"]),
        }
        # 0.0022 s are 2.2 ms, without the digits that floats add.
        return {name: round(1000 * value, 9) for name, value in of_thousand.items()}

    usual = in_service(_MODEL)
    changed = {name: value for name, value in in_service(values).items() if value != usual[name]}
    return {"constants": changed} if changed else {}


def _ids(name: str, neurons: Collection[Any]) -> list[str]:
    if isinstance(neurons, str):
        raise ValueError(f"{name} must be a list of root ids, got the text {neurons!r}")
    ids = []
    for neuron in neurons:
        if not is_id(neuron) and re.fullmatch("[0-9]{1,20}", str(neuron)) is None:
            raise ValueError(f"{name} must list root ids as integers or texts of digits, got {neuron!r}")
        ids.append(str(int(neuron)))
    # Two mentions of a neuron are two inputs to Brian 2 and one to the service.
    repeated = sorted({each for each in ids if ids.count(each) > 1}) if len(set(ids)) < len(ids) else []
    if repeated:
        raise ValueError(f"A neuron may be listed only once; repeated: {', '.join(repeated)}")
    return ids


def _check_constants(params: Mapping[str, Any]) -> None:
    for name, value in params.items():
        if name in _CONSTANTS:
            own = _MODEL[name]
            if not abs(float(value) - own) <= 1e-9 * abs(own):
                raise ValueError(f"{name} is a constant of the model, {own} in SI units, got {value!r}")
        elif name in _EQUATIONS:
            if hashlib.sha256("".join(str(value).split()).encode()).hexdigest() != _EQUATIONS[name]:
                raise ValueError(f"{name} must be the equations of the model; the service has no others")
        elif name not in _MODEL:
            raise ValueError(f"params has no {name}; it may have {', '.join([*_MODEL, *_EQUATIONS])}")
