"""What Prometheus reads, in the format that it asks for."""

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder

from webapp.api.errors import ApiError
from webapp.prometheus import of_requests, of_runs, of_the_server
from webapp.prometheus.who import projects_of


@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Of the projects that the token's owner sees; of all for an address in METRICS_OPEN_TO."""
    try:
        projects = projects_of(request)
    except ApiError as error:
        return _refused(error.status, error.message)
    if projects is None:
        return _refused(
            401, _("Send a token with the scope “read”: “Authorization: Bearer …”. See docs/prometheus.md.")
        )
    registry = CollectorRegistry(auto_describe=False)
    registry.register(of_the_server.Collector(projects))
    registry.register(of_requests.Collector())
    registry.register(of_runs.Collector(projects))
    encode, content_type = choose_encoder(request.headers.get("Accept", ""))
    return HttpResponse(encode(registry), content_type=content_type)


def _refused(status: int, sentence: str) -> HttpResponse:
    answer = HttpResponse(sentence + "\n", content_type="text/plain; charset=utf-8", status=status)
    if status == 401:
        answer["WWW-Authenticate"] = "Bearer"
    return answer
