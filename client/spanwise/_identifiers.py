"""Execution ids as people write them."""

from typing import NamedTuple

from spanwise._errors import InvalidRequest
from spanwise.v1 import identifiers_pb2


class ExecutionId(NamedTuple):
    """One run of a workflow.

    Attributes:
        project: Project that owns it. May be empty.
        domain: Domain of the project. May be empty.
        name: Name, unique in project and domain.
    """

    project: str
    domain: str
    name: str

    def __str__(self) -> str:
        """Give the form that people type: project/domain/name."""
        return f"{self.project}/{self.domain}/{self.name}"

    @classmethod
    def parse(cls, text: str) -> "ExecutionId":
        """Read an id in the form that `str` gives.

        Args:
            text: "project/domain/name". Whatever follows the second slash is the name.

        Raises:
            InvalidRequest: It does not have that form.
        """
        parts = text.split("/", 2)
        if "://" in text or len(parts) != len(cls._fields) or not parts[2]:
            raise InvalidRequest(
                f"{_quoted(text)} is no execution id: it has the form project/domain/name, "
                "for instance flytesnacks/development/a1b2c3"
            )
        checked_text(text)
        return cls(*parts)

    def to_message(self) -> identifiers_pb2.ExecutionId:
        """Give the message that stands for it on the wire."""
        return identifiers_pb2.ExecutionId(project=self.project, domain=self.domain, name=self.name)

    @classmethod
    def from_message(cls, message: identifiers_pb2.ExecutionId) -> "ExecutionId":
        """Read the message that stands for it on the wire."""
        return cls(message.project, message.domain, message.name)


def checked_text(text: str) -> str:
    """Give the text back if it can be sent.

    Raises:
        InvalidRequest: It is not Unicode text: a shell hands over undecodable bytes as lone
            surrogates, which protobuf cannot encode.
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidRequest(f"{_quoted(text)} is not valid UTF-8 text") from error
    return text


def _quoted(text: str, longest: int = 80) -> str:
    return ascii(text if len(text) <= longest else text[:longest] + "...")
