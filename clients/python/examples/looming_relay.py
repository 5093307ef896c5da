"""How the giant fibre's response to looming depends on the rate of its inputs, with and without a relay.

Run it with the address of a service: python3 looming_relay.py http://localhost:8080
"""

import sys

from neural_experiment_client import Lab

lab = Lab(sys.argv[1] if len(sys.argv) > 1 else "http://localhost:8080")
experiment = {
    "inputs": {"loom": ["LC4:left", "LPLC2:left"]},
    "reports": {"giant_fibre": {"node_set": "DNp01", "group_by": ["side"]}},
    "duration_ms": 300,
    "trials": 5,
    "sweep": [
        {"set": "inputs.loom.rate_hz", "values": [50, 100, 150]},
        {"each": "PVLP122b", "group_by": ["type"], "as": "silence"},
    ],
}
print("Brain seconds:", lab.dry_run(**experiment)["cost"]["brain_seconds"])

result = lab.run(**experiment, progress=True)
table = result.rates.pivot_table(index="inputs.loom.rate_hz", columns=["silence.type", "side"], values="rate_hz_mean")
print(table.round(1))
