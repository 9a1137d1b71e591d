"""Everything that can go wrong, for callers who want to tell one from another.

HoldfastError
├── ConfigError            the settings cannot be used; says which file and key
│   └── ProtectionUnreadable  a setting that protects cannot be read, so nothing is captured, stored or shared
├── StoreError             the store refused
│   ├── StoreLocked        someone else is writing; try again
│   ├── StoreTooNew        written by a later version
│   ├── StoreCorrupt       the database cannot be read
│   └── StoreReadOnly      it belongs to another program
├── HarnessUnknown         no such harness; lists those there are
├── NotThere               what was named is not kept, or not any more
├── AnswerUnreadable       a model's answer, as a program gave it to us, is none
├── TranscriptUnreadable   a transcript named by a person cannot be read
├── SettingsUnreadable     a harness's settings file is not valid; it was left alone
├── ManifestUnreadable     our record of what setup did cannot be read
├── ModelError             a model cannot answer; never fatal, something simpler stands in
│   └── ModelBusy          it may be able to in a moment
├── PathRefused            a file of the project may not be read or written there; says why
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
    """The store refused."""


class StoreLocked(StoreError):
    """Someone else is writing; try again."""


class StoreTooNew(StoreError):
    """The database was written by a later version of Holdfast."""


class StoreCorrupt(StoreError):
    """The database cannot be read."""


class StoreReadOnly(StoreError):
    """The sessions belong to another program, and are only looked at."""


class HarnessUnknown(HoldfastError):
    """There is no harness of that name."""


class NotThere(HoldfastError):
    """What was named is not kept, or not any more."""


class AnswerUnreadable(HoldfastError):
    """What a program gave us as a model's answer is none; nothing of it was kept."""


class TranscriptUnreadable(HoldfastError):
    """A transcript that a person named cannot be read."""


class SettingsUnreadable(HoldfastError):
    """A harness's settings file is not valid; it was left alone."""


class ManifestUnreadable(HoldfastError):
    """Our record of what setup did cannot be read."""


class ModelError(HoldfastError):
    """A model, or what stands in for one, cannot answer; nobody's work depends on it."""


class ModelBusy(ModelError):
    """A model cannot answer now; `after` is in how many seconds it may, 0 if it did not say."""

    def __init__(self, message: str, hint: str = "", after: float = 0.0) -> None:
        super().__init__(message, hint)
        self.after = after


class DaemonAway(HoldfastError):
    """The daemon does not answer."""


class PathRefused(HoldfastError):
    """A file of the project may not be read or written at that path."""
