"""A Python program with zeep, which refuses what does not fit the WSDL: python3 client.py PLAN.json."""

import json
import re
import sys

import zeep

PORTS = {"1.1": "cartAPISoap", "1.2": "cartAPISoap12"}


def service(plan, wsdl):
    return zeep.Client(wsdl, settings=zeep.Settings(strict=True)).bind("cartAPI", PORTS[plan["version"]])


def texts_at(root, path):
    return ["".join(node.itertext()) for node in root.findall(path)]


def difference(call, root):
    """What differs from what is expected; None: nothing."""
    if root.tag != call["root"]:
        return f"the root is {root.tag}, not {call['root']}: {texts_at(root, 'Id')}"
    for path, texts in call["texts"].items():
        if texts_at(root, path) != texts:
            return f"{path} is {texts_at(root, path)}, not {texts}"
    for path, pattern in call["patterns"].items():
        if not re.search(pattern, "".join(texts_at(root, path)[:1])):
            return f"{path} is {texts_at(root, path)}, which does not fit {pattern}"
    return None


def try_call(api, call):
    try:
        return difference(call, api[call["operation"]](**call["parameters"]))
    except Exception as error:
        return repr(error)


def try_fault(api, fault):
    try:
        api[fault["operation"]](**fault["parameters"])
        return "there is no fault"
    except zeep.exceptions.Fault as error:
        is_expected = error.code == f"soap:{fault['code']}" and fault["text"] in error.message
        return None if is_expected else f"the fault is {error.code} {error.message}"


def main():
    sys.stdout.reconfigure(encoding="utf-8")
    with open(sys.argv[1], encoding="utf-8") as file:
        plan = json.load(file)
    api = service(plan, plan["wsdl"])
    newer = service(plan, plan["newerWsdl"])
    outcomes = [(call, call["name"], try_call(api, call)) for call in plan["calls"]]
    outcomes.append((plan["fault"], "a fault", try_fault(newer, plan["fault"])))
    for call, name, fault in outcomes:
        what = f"{call['operation']}, {name}"
        print(f"ok {what}" if fault is None else f"FAILED {what}: {fault}")
    failed = sum(fault is not None for _, _, fault in outcomes)
    print(f"{len(outcomes) - failed} of {len(outcomes)} as expected")
    sys.exit(0 if failed == 0 else 1)


main()
