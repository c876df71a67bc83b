"""An export as the API returns it: the job and its URLs."""

from msgspec import UNSET, Struct, UnsetType

from bowerbird.library.exports.exports import ExportJob, ExportProgress


class ExportResponse(Struct, frozen=True, kw_only=True):
    job_id: str
    format: str
    status: str
    progress: ExportProgress
    poll_url: str
    file_size: int | None
    error: str | None
    # Sentences about the file, such as which scripts lack a font.
    notes: list[str]
    created_at: str
    completed_at: str | None
    attempts: int = 0
    started_at: str | None = None
    last_error: str | None = None
    download_url: str | UnsetType = UNSET
    expires_at: str | UnsetType = UNSET


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
