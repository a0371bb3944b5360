#!/usr/bin/env python3
"""Checks what deploy/ has for clusters:  fleets.py HINDCASTD HINDCASTCTL WORK COMMAND

schemas: the manifests of Agones have the fields that its reference documents, and no others. agree: numbers that stand
in several places agree. starts: hindcastd takes the arguments of each manifest, with the keys in WORK. commands: probes
and hooks are commands of hindcastctl. image: the Dockerfile installs the packages that the programs are linked with,
and what it copies is not ignored.
"""
import json
import os
import re
import subprocess
import sys

import jsonschema
import yaml

hindcastd, hindcastctl, work, command = sys.argv[1:]
root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")


def documents(path):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        return list(yaml.safe_load_all(file))


(deployment, service), = [documents("deploy/kubernetes/hindcastd.yaml")]
kustomization, = documents("deploy/kubernetes/kustomization.yaml")
fleet, autoscaler, buffer, allocation = [documents(f"deploy/agones/{name}.yaml")[0] for name in
                                         ("fleet", "autoscaler", "autoscaler-buffer", "allocation")]
pods = {"deployment": deployment["spec"]["template"]["spec"],
        "fleet": fleet["spec"]["template"]["spec"]["template"]["spec"]}


# ---- The fields of Agones, as its reference documents them --------------------------------------

def fields(required="", **known):
    return {"type": "object", "properties": known, "required": required.split(), "additionalProperties": False}


def some(schema):
    return {"type": "object", "additionalProperties": schema}


def each(schema):
    return {"type": "array", "items": schema}


def word(*words):
    return {"enum": list(words)}


ANY, TEXT, FLAG, LABELS = {"type": "object"}, {"type": "string"}, {"type": "boolean"}, some({"type": "string"})
COUNT = {"type": "integer", "minimum": 0}
SHARE = {"anyOf": [COUNT, {"type": "string", "pattern": "^[0-9]{1,3}%$"}]}
META = fields(name=TEXT, generateName=TEXT, namespace=TEXT, labels=LABELS, annotations=LABELS)
PRIORITIES = each(fields("type key", type=word("Counter", "List"), key=TEXT, order=word("Ascending", "Descending")))
SCHEDULING = word("Packed", "Distributed")
RANGE = fields(minCount=COUNT, maxCount=COUNT, minAvailable=COUNT, maxAvailable=COUNT)
SELECTOR = fields(matchLabels=LABELS, matchExpressions=each(ANY), gameServerState=word("Ready", "Allocated"),
                  counters=some(RANGE), lists=some(fields(containsValue=TEXT, minAvailable=COUNT, maxAvailable=COUNT)))
GAMESERVER = fields(
    "ports template", container=TEXT, scheduling=SCHEDULING, template=fields("spec", metadata=META, spec=ANY),
    ports=each(fields("name", name=TEXT, range=TEXT, container=TEXT, protocol=word("UDP", "TCP", "TCPUDP"),
                      portPolicy=word("Dynamic", "Static", "Passthrough", "None"),
                      containerPort=COUNT, hostPort=COUNT)),
    health=fields(disabled=FLAG, initialDelaySeconds=COUNT, periodSeconds=COUNT, failureThreshold=COUNT),
    sdkServer=fields(logLevel=TEXT, grpcPort=COUNT, httpPort=COUNT),
    counters=some(fields(count=COUNT, capacity=COUNT)), lists=some(fields(values=each(TEXT), capacity=COUNT)),
    eviction=fields(safe=word("Always", "OnUpgrade", "Never")))
POLICY = fields(
    "type", type=word("Buffer", "Counter", "List", "Webhook", "Schedule", "Chain"),
    buffer=fields("bufferSize maxReplicas", bufferSize=SHARE, minReplicas=COUNT, maxReplicas=COUNT),
    counter=fields("key bufferSize maxCapacity", key=TEXT, bufferSize=SHARE, minCapacity=COUNT, maxCapacity=COUNT))
SCHEMAS = {
    "Fleet": ("agones.dev/v1", fields(
        "replicas template", replicas=COUNT, scheduling=SCHEDULING, priorities=PRIORITIES,
        allocationOverflow=fields(labels=LABELS, annotations=LABELS),
        strategy=fields("type", type=word("RollingUpdate", "Recreate"),
                        rollingUpdate=fields(maxSurge=SHARE, maxUnavailable=SHARE)),
        template=fields("spec", metadata=META, spec=GAMESERVER))),
    "FleetAutoscaler": ("autoscaling.agones.dev/v1", fields(
        "fleetName policy", fleetName=TEXT, policy=POLICY,
        sync=fields("type", type=word("FixedInterval"), fixedInterval=fields("seconds", seconds=COUNT)))),
    "GameServerAllocation": ("allocation.agones.dev/v1", fields(
        "selectors", selectors=each(SELECTOR), priorities=PRIORITIES, scheduling=SCHEDULING,
        metadata=fields(labels=LABELS, annotations=LABELS),
        counters=some(fields(action=word("Increment", "Decrement"), amount=COUNT, capacity=COUNT)),
        lists=some(fields(addValues=each(TEXT), capacity=COUNT)))),
}


def schemas():
    for document in (fleet, autoscaler, buffer, allocation):
        version, spec = SCHEMAS[document["kind"]]
        assert document["apiVersion"] == version, document
        jsonschema.validate(document, fields("apiVersion kind spec", apiVersion=TEXT, kind=TEXT, metadata=META,
                                             spec=spec))
    wrong = json.loads(json.dumps(fleet))
    wrong["spec"]["template"]["spec"]["ports"][0]["policy"] = "Passthrough"
    try:
        jsonschema.validate(wrong["spec"], SCHEMAS["Fleet"][1])
    except jsonschema.ValidationError:
        return
    sys.exit("the schema takes a field that there is not")


# ---- Agreement ----------------------------------------------------------------------------------

def arguments(pod):
    return dict((text[2:].split("=", 1) + [""])[:2] for text in pod["containers"][0]["args"])


def agree():
    for name, pod in pods.items():
        said, container = arguments(pod), pod["containers"][0]
        assert pod["terminationGracePeriodSeconds"] > int(said["drain-on-term"]) + 5, name
        assert pod["securityContext"]["runAsNonRoot"] and container["securityContext"]["readOnlyRootFilesystem"], name
        assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}, name
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}, name
        assert pod["volumes"][0]["secret"] == {"secretName": "hindcast-keys", "defaultMode": 0o440}, name
        assert pod["securityContext"]["fsGroup"] == pod["securityContext"]["runAsGroup"], name
        assert said["key-file"].startswith(container["volumeMounts"][0]["mountPath"] + "/"), name
    said, spec = arguments(pods["fleet"]), fleet["spec"]["template"]["spec"]
    matches, clients = int(said["matches"]), int(said["max-clients"])
    assert spec["counters"] == {"rooms": {"count": 0, "capacity": matches}}
    assert spec["lists"] == {"players": {"capacity": matches * clients}}
    port, = spec["ports"]
    assert (port["name"], port["portPolicy"], port["protocol"]) == (said["agones-port"], "Passthrough", "UDP")
    for scaler in (autoscaler, buffer):
        assert scaler["spec"]["fleetName"] == fleet["metadata"]["name"]
    counter = autoscaler["spec"]["policy"]["counter"]
    assert counter["key"] == "rooms" and counter["minCapacity"] == fleet["spec"]["replicas"] * matches
    assert counter["bufferSize"] == matches and counter["maxCapacity"] % matches == 0
    for selector in allocation["spec"]["selectors"]:
        assert selector["matchLabels"] == {"agones.dev/fleet": fleet["metadata"]["name"]}
    said, ports = arguments(pods["deployment"]), pods["deployment"]["containers"][0]["ports"]
    assert ports == [{"name": "game", "containerPort": int(said["port"]), "hostPort": int(said["port"]),
                      "protocol": "UDP"}]
    assert service["spec"]["ports"][0]["targetPort"] == "game"
    assert kustomization["images"][0]["name"] == pods["deployment"]["containers"][0]["image"]
    image = kustomization["images"][0]
    assert pods["fleet"]["containers"][0]["image"] == f"{image['newName']}:{image['newTag']}"


# ---- The programs -------------------------------------------------------------------------------

def run(*words):
    result = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
    return result.returncode, result.stdout


def starts():
    for name, pod in pods.items():
        words = [text.replace("/etc/hindcast/keys", os.path.join(work, "keys"))
                 for text in pod["containers"][0]["args"]]
        status, text = run(hindcastd, *words, "--check-config")
        assert (status, text) == (0, "ok\n"), (name, text)


def commands():
    container = pods["deployment"]["containers"][0]
    found = [container[probe]["exec"]["command"] for probe in ("startupProbe", "livenessProbe", "readinessProbe")]
    found.append(container["lifecycle"]["preStop"]["exec"]["command"])
    found.append(json.loads(re.search(r"^HEALTHCHECK .* CMD (.*)$", dockerfile(), re.M)[1]))
    for words in found:
        assert words[0] == "hindcastctl", words
        status, text = run(hindcastctl, "--admin", "unix:" + os.path.join(work, "none"), *words[1:])
        assert status == 1, (words, status, text)  # 2 would be a wrong command line


# ---- The image ----------------------------------------------------------------------------------

def dockerfile():
    with open(os.path.join(root, "deploy/docker/Dockerfile"), encoding="utf-8") as file:
        return file.read()


def image():
    text = dockerfile()
    build, final = text.split("\nFROM ")[1:] if text.startswith("\nFROM ") else re.split(r"^FROM ", text, flags=re.M)[1:]
    installed = set(re.search(r"--no-install-recommends ((?:[^&\\]|\\\n)*)", final)[1].replace("\\\n", " ").split())
    needed = set()
    for program in (hindcastd, hindcastctl):
        for library in re.findall(r"=> (/\S+)", run("ldd", program)[1]):
            for path in (library, os.path.realpath(library), library.replace("/lib/", "/usr/lib/", 1)):
                status, owner = run("dpkg", "-S", path)
                if status == 0:
                    needed.add(owner.split(":")[0])
                    break
            else:
                sys.exit(f"no package has {library}")
    needed -= {"libc6", "libgcc-s1"}  # parts of the base
    assert needed == installed, (needed, installed)
    users = re.findall(r"^USER (.*)$", final, re.M)
    assert users and users[-1] == "10001:10001", users
    assert re.search(r"^STOPSIGNAL SIGTERM$", final, re.M) and "HEALTHCHECK" in final
    with open(os.path.join(root, ".dockerignore"), encoding="utf-8") as file:
        taken = [line[1:] for line in file.read().split() if line.startswith("!")]
    for path in taken:
        assert os.path.exists(os.path.join(root, path)), path
    for path in re.findall(r"^COPY ([\w/.]+) /src/", build, re.M):
        assert path in taken, path


{"schemas": schemas, "agree": agree, "starts": starts, "commands": commands, "image": image}[command]()
