"""What the palette asks while somebody types."""

from dataclasses import asdict

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_GET

from webapp.accounts.signed_in import signed_in
from webapp.palette.find import find as found_by


@login_required
@require_GET
def find(request: HttpRequest) -> HttpResponse:
    """`q`: the letters. Projects and runs that the person may see."""
    return JsonResponse({"found": [asdict(one) for one in found_by(signed_in(request), request.GET.get("q", ""))]})
