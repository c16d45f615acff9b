"""Property-based requests, made from the OpenAPI document, never get a 5xx and always get what it promises."""

import httpx
import hypothesis
import pytest
import schemathesis


@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # of a tool, not of ours
def test_no_request_makes_the_server_fail(live):
    from schemathesis.checks import CHECKS, load_all_checks

    load_all_checks()
    wanted = [
        "not_a_server_error",
        "status_code_conformance",
        "content_type_conformance",
        "response_schema_conformance",
    ]
    checks = [CHECKS.get_one(name) for name in wanted]
    schema = schemathesis.openapi.from_dict(httpx.get(f"{live}/api/v1/openapi.json").json())
    schema.config.update(base_url=live)
    n_requests = 0
    for operation in (result.ok() for result in schema.get_all_operations()):
        assert operation is not None

        @hypothesis.given(case=operation.as_strategy())
        @hypothesis.settings(max_examples=12, deadline=None, suppress_health_check=list(hypothesis.HealthCheck))
        def run(case):
            nonlocal n_requests
            n_requests += 1
            case.call_and_validate(checks=checks, timeout=180)

        run()
    assert n_requests > 40
    assert httpx.get(f"{live}/healthz").json()["status"] == "ok"
