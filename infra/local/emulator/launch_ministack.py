"""Starts ministack for this project, and ends it with its starter.

Errors of Node functions are named as Lambda names them: ministack keeps an error's message and calls every one of them
Runtime.HandlerError, a process that died included, and the run machine's Retry goes by names.

A function has a bounded number of processes, and further calls wait for one: ministack starts another process for each
call that meets a busy one, which on one machine makes a burst slow for everybody.

It stops at start, rather than change less than it should, when the release is not as expected.
"""

import os
import signal
import sys
import threading
import time

from ministack.core import lambda_runtime
from ministack.services import lambda_svc

FAILED_HANDLER = 'status: "error", error: String(err.message || err), trace'
FAILED_CALL = 'status: "error", error: e.message, trace'
DIED = "Worker process died"
PROCESSES = 8


def expect(held: bool, what: str) -> None:
    if not held:
        sys.exit(f"this release of ministack has no {what}; look at launch_ministack.py before using it")


def name_errors() -> None:
    script = lambda_runtime._NODEJS_WORKER_SCRIPT
    expect(script.count(FAILED_HANDLER) == 1 and script.count(FAILED_CALL) == 1, "such worker script")
    script = script.replace(FAILED_HANDLER, FAILED_HANDLER.replace("trace", "errorType: err.name, trace"))
    script = script.replace(FAILED_CALL, FAILED_CALL.replace("trace", "errorType: e.name, trace"))
    lambda_runtime._NODEJS_WORKER_SCRIPT = script

    # The executor builds its answer from the message alone, so the name goes beside it.
    names = threading.local()
    invoke = lambda_runtime.Worker.invoke
    execute = getattr(lambda_svc, "_execute_function_warm", None)
    expect(callable(execute), "_execute_function_warm")

    def invoke_and_remember(self, *args, **kwargs):
        names.last = None
        response = invoke(self, *args, **kwargs)
        if response.get("status") == "error":
            died = response.get("error") == DIED
            names.last = "Runtime.ExitError" if died else response.get("errorType")
        return response

    def execute_and_name(*args, **kwargs):
        names.last = None
        result = execute(*args, **kwargs)
        body = result.get("body")
        if names.last and isinstance(body, dict) and body.get("errorType") == "Runtime.HandlerError":
            result = {**result, "body": {**body, "errorType": names.last}}
        return result

    lambda_runtime.Worker.invoke = invoke_and_remember
    lambda_svc._execute_function_warm = execute_and_name


def bound_processes() -> None:
    acquire = getattr(lambda_svc, "acquire_worker", None)
    expect(callable(acquire) and lambda_runtime._LOCAL_MAX_WORKERS == 0, "unbounded pool of workers")
    lambda_runtime._LOCAL_MAX_WORKERS = PROCESSES

    def acquire_or_wait(*args, **kwargs):
        while True:
            worker, reason = acquire(*args, **kwargs)
            if worker is not None or reason != "func_cap":
                return worker, reason
            time.sleep(0.01)

    lambda_svc.acquire_worker = acquire_or_wait


def end_with_starter() -> None:
    """Standard input ends when the process that holds its other end does, however that came."""

    def wait() -> None:
        while os.read(0, 4096):
            pass
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, daemon=True).start()


if __name__ == "__main__":
    from ministack.app import main

    name_errors()
    bound_processes()
    end_with_starter()
    main()
