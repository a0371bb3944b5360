#!/bin/sh
# Checks deploy/kubernetes, the pods of deploy/agones and deploy/docker/Dockerfile with the schemas of Kubernetes and a
# linter, from two packages of the npm registry (33 MB) in a temporary folder. Without npm there is nothing to run.
set -eu
cd "$(dirname "$0")/.."
command -v npm >/dev/null 2>&1 || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
npm install --prefix "$work" --no-audit --no-fund --silent kubernetes-models@4.5.1 dockerfile-utils@0.16.3
for file in deploy/kubernetes/hindcastd.yaml deploy/agones/*.yaml; do
    python3 -c 'import json, sys, yaml; print(json.dumps(list(yaml.safe_load_all(open(sys.argv[1])))))' "$file" \
        >"$work/$(basename "$file").json"
done
node - "$work" <<'SCRIPT'
const { readFileSync, readdirSync } = require("fs");
const work = process.argv[2];
const load = require("module").createRequire(work + "/");
let checked = 0, faults = 0;
function fault(text) { console.log(text); faults++; }

for (const file of readdirSync(work).filter((name) => name.endsWith(".yaml.json"))) {
    for (const document of JSON.parse(readFileSync(`${work}/${file}`, "utf8"))) {
        let object = document;
        if (document.kind === "Fleet") // Kubernetes knows no fleet, but the pods in it
            object = { apiVersion: "v1", kind: "Pod", ...document.spec.template.spec.template };
        else if (/agones/.test(document.apiVersion))
            continue;
        try {
            new (load("kubernetes-models/" + object.apiVersion)[object.kind])(object).validate();
        } catch (error) {
            fault(`${file}: ${document.kind}: ${error.message}`);
        }
        checked++;
    }
}
for (const found of load("dockerfile-utils").validate(readFileSync("deploy/docker/Dockerfile", "utf8"), {}))
    fault(`deploy/docker/Dockerfile:${found.range.start.line + 1}: ${found.message}`);
console.log(`${checked} objects and a Dockerfile, ${faults} faults`);
process.exitCode = faults > 0 || checked < 3 ? 1 : 0;
SCRIPT
