"""Everything that can go wrong, for callers who want to tell one from another.

HoldfastError
├── ConfigError            the settings cannot be used; says which file and key
│   └── ProtectionUnreadable  a setting that protects cannot be read, so nothing is captured, stored or shared
├── StoreError             the store cannot do what was asked
│   ├── StoreLocked        another process is writing; try again
│   ├── StoreTooNew        written by a later version
│   ├── StoreCorrupt       the database cannot be read
│   ├── StoreAway          its server does not answer; it may later
│   └── StoreReadOnly      it belongs to another program
├── HubError               the hub cannot do what was asked
│   ├── HubAway            it does not answer; what is to be sent waits
│   └── HubRefused         a person must act: rights, certificate, settings, a later schema
├── HarnessUnknown         no such harness; lists those there are
├── NotThere               what was named is not stored, or no longer
├── AnswerUnreadable       what a program passed as a model's answer is not one
├── TranscriptUnreadable   a transcript named by a person cannot be read
├── ProbeUnreadable        a probe of an evaluation cannot be used; says which file
├── JudgementsUnreadable   a file of judged statements cannot be used; says which line
├── SettingsUnreadable     a harness's settings file is not valid; it was left alone
├── ManifestUnreadable     the record of what setup changed cannot be read
├── ModelError             a model cannot answer; never fatal: a simpler method is used instead
│   └── ModelBusy          it may answer if asked again later
├── BackupUnreadable       a backup cannot be opened: passphrase, damage, or a later version
├── PathRefused            a project file may not be read or written at this path; says why
├── Declined               a person was asked and said no; the message says what did not happen
└── DaemonAway             the daemon does not answer
"""


class HoldfastError(Exception):
    """One clear sentence for a person, and what they can do about it."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class ConfigError(HoldfastError):
    """The settings cannot be used; the message names file and key."""


class ProtectionUnreadable(ConfigError):
    """A setting that protects cannot be read: nothing is captured, stored or shared until it can."""


class StoreError(HoldfastError):
    """The store cannot do what was asked."""


class StoreLocked(StoreError):
    """Another process is writing; try again."""


class StoreTooNew(StoreError):
    """The database was written by a later version of Holdfast."""


class StoreCorrupt(StoreError):
    """The database cannot be read."""


class StoreAway(StoreError):
    """The server of the store does not answer, or no longer; it may later."""


class StoreReadOnly(StoreError):
    """The sessions belong to another program and can only be read."""


class HubError(HoldfastError):
    """The hub cannot do what was asked; nothing was sent or received."""


class HubAway(HubError):
    """The hub does not answer; what is to be sent waits."""


class HubRefused(HubError):
    """The hub cannot be used until a person acts; the message says what is wrong."""


class HarnessUnknown(HoldfastError):
    """There is no harness of that name."""


class NotThere(HoldfastError):
    """What was named is not stored, or no longer."""


class AnswerUnreadable(HoldfastError):
    """What a program passed as a model's answer is not one; nothing was stored."""


class TranscriptUnreadable(HoldfastError):
    """A transcript that a person named cannot be read."""


class ProbeUnreadable(HoldfastError):
    """A probe that a brief is to be measured by cannot be used; the message names file or probe."""


class JudgementsUnreadable(HoldfastError):
    """A file of judged statements, to which weights are to be fitted, cannot be used."""


class SettingsUnreadable(HoldfastError):
    """A harness's settings file is not valid; it was left alone."""


class ManifestUnreadable(HoldfastError):
    """The record of what setup changed cannot be read."""


class ModelError(HoldfastError):
    """A model, or its substitute, cannot answer; no user's work depends on it."""


class ModelBusy(ModelError):
    """A model cannot answer now; it may in `after` seconds, 0 if unknown."""

    def __init__(self, message: str, hint: str = "", after: float = 0.0) -> None:
        super().__init__(message, hint)
        self.after = after


class Declined(HoldfastError):
    """A person was asked and said no: nothing is wrong, and nothing was done."""


class DaemonAway(HoldfastError):
    """The daemon does not answer."""


class BackupUnreadable(HoldfastError):
    """A backup cannot be opened; nothing was restored."""


class PathRefused(HoldfastError):
    """A file of the project may not be read or written at that path."""
