"""An export as the API returns it: the job and its URLs."""

from msgspec import UNSET, Struct, UnsetType

from bowerbird.library.exports.exports import ExportJob, ExportProgress


class ExportResponse(Struct, frozen=True, kw_only=True):
    job_id: str
    """Identifier of the export."""
    format: str
    """pdf, csv or json."""
    status: str
    """pending, processing, completed, failed or expired."""
    progress: ExportProgress
    """Progress of the export."""
    poll_url: str
    """URL to poll for the status."""
    file_size: int | None
    """Size of the file in bytes, once it exists."""
    error: str | None
    """Why it failed, in a sentence for people to read."""
    notes: list[str]
    """Sentences about the file, such as which scripts lack a font."""
    created_at: str
    """When it was requested."""
    completed_at: str | None
    """When the file was completed."""
    attempts: int = 0
    """How often a worker has started it."""
    started_at: str | None = None
    """When a worker started it last, or null."""
    last_error: str | None = None
    """Why the last attempt failed, while it waits for the next one, or null."""
    download_url: str | UnsetType = UNSET
    """Link to the file, valid for five minutes; only if completed."""
    expires_at: str | UnsetType = UNSET
    """When download_url expires; only if completed."""


class ExportAddresses(Struct, frozen=True):
    """Builds the URLs of export jobs."""

    api_origin: str
    prefix: str = "/v1/exports"

    def path(self, job: ExportJob) -> str:
        return f"{self.prefix}/{job.job_id}"

    def response(self, job: ExportJob) -> ExportResponse:
        poll_url = self.api_origin + self.path(job)
        return ExportResponse(
            job_id=job.job_id,
            format=job.format,
            status=job.status,
            progress=job.progress,
            poll_url=poll_url,
            file_size=job.file_size,
            error=job.error,
            notes=job.notes,
            created_at=job.created_at,
            completed_at=job.completed_at,
            attempts=job.attempts,
            started_at=job.started_at,
            last_error=job.last_error,
            download_url=f"{poll_url}/file?token={job.link.token}" if job.link else UNSET,
            expires_at=job.link.expires_at if job.link else UNSET,
        )
