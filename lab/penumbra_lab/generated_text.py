"""Texts and JSON documents with the statistics of real ones; the same for the same seed."""

import itertools
import json
import math
import random
import uuid
from collections.abc import Iterator

ONSETS = [*"bcdfghlmnprstvw", "br", "ch", "cl", "cr", "dr", "fr", "gr", "pl", "pr", "sh", "sp",
          "st", "str", "th", "tr", "wh"]  # fmt: skip
VOWELS = [*"aeiou", "ai", "ea", "ee", "ou", "io", *"aeioe"]
CODAS = ["", "", "", *"nrstldm", "ng", "st", "nd", "ck", "ll", "nt"]
VOCABULARY_WORDS = 20_000
SUCCESSORS = 24
TOPIC_WORDS = 120


class TextModel:
    """Words by Zipf's and Mandelbrot's law, short ones first; each word has favourite successors
    and each text favourite words, as languages and subjects have. zlib -6 makes a
    text of 25 kB 2.4 times smaller; the first 25 kB of long READMEs, 2.5 to 3.1 times."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.words = self._make_words()
        weights = [1 / (rank + 2.7) for rank in range(VOCABULARY_WORDS)]
        self.cumulative = list(itertools.accumulate(weights))
        self.successor_weights = list(
            itertools.accumulate((rank + 1) ** -1.5 for rank in range(SUCCESSORS))
        )
        self.successors: dict[str, list[str]] = {}

    def _make_words(self) -> list[str]:
        made: dict[str, None] = {}
        while len(made) < VOCABULARY_WORDS:
            syllables = 1 + int(math.log(len(made) + 2, 20) * self.random.uniform(0.3, 1.1))
            made["".join(self._syllable(syllables == 1) for _ in range(syllables))] = None
        return list(made)

    def _syllable(self, is_alone: bool) -> str:
        onset = self.random.choice(ONSETS[:14] if is_alone else ["", *ONSETS])
        coda = self.random.choice(CODAS) if is_alone or self.random.random() < 0.4 else ""
        return onset + self.random.choice(VOWELS) + coda

    def some_words(self, count: int) -> list[str]:
        return self.random.choices(self.words, cum_weights=self.cumulative, k=count)

    def _successor(self, word: str) -> str:
        if word not in self.successors:
            self.successors[word] = self.some_words(SUCCESSORS)
        return self.random.choices(self.successors[word], cum_weights=self.successor_weights)[0]

    def _stream(self, topic: list[str]) -> Iterator[str]:
        word = ""
        while True:
            for drawn in self.some_words(500):
                kind = self.random.random()
                if kind < 0.5 and word:
                    word = self._successor(word)
                elif kind < 0.66:
                    word = topic[int(TOPIC_WORDS * self.random.random() ** 2)]
                else:
                    word = drawn
                yield word

    def text(self, size_bytes: int) -> str:
        """About so many bytes of sentences in paragraphs."""
        parts: list[str] = []
        length = 0
        words = self._stream(self.some_words(TOPIC_WORDS))
        while length < size_bytes:
            count = max(3, int(self.random.lognormvariate(2.75, 0.5)))
            sentence = list(itertools.islice(words, count))
            sentence[0] = sentence[0].capitalize()
            if count > 9:
                sentence[count // 2] += self.random.choice([",", ",", ";", " -"])
            if self.random.random() < 0.15:
                sentence[-1] = str(self.random.randrange(1, 3000))
            end = ".\n\n" if self.random.random() < 0.12 else self.random.choice([". ", ". ", "? "])
            parts.append(" ".join(sentence) + end)
            length += len(parts[-1])
        return "".join(parts).strip()


class DocumentModel:
    """JSON as applications store it, 800 bytes on average: four kinds of documents, optional keys,
    skewed values, nested parts, free text, and identifiers that nothing can compress."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.text = TextModel(seed)
        self.names = [word.capitalize() for word in self.text.words[200:3200]]
        self.cities = [word.capitalize() for word in self.text.words[50:450]]

    def _skewed(self, values: list) -> object:
        return values[int(len(values) * self.random.random() ** 3)]

    def _uuid(self) -> str:
        return str(uuid.UUID(int=self.random.getrandbits(128), version=4))

    def _time(self) -> str:
        second = self.random.randrange(86400)
        return (f"202{self.random.randrange(2, 6)}-{self.random.randrange(1, 13):02}-"
                f"{self.random.randrange(1, 29):02}T{second // 3600:02}:{second // 60 % 60:02}:"
                f"{second % 60:02}.{self.random.randrange(1000):03}Z")  # fmt: skip

    def _phrase(self, most: int) -> str:
        return " ".join(self.text.some_words(self.random.randrange(2, most))).capitalize()

    def _address(self) -> dict:
        return {
            "street": f"{self.random.randrange(1, 400)} {self._skewed(self.names)} Street",
            "city": self._skewed(self.cities),
            "postcode": f"{self.random.randrange(10000, 99999)}",
            "country": self._skewed(["US", "DE", "FR", "GB", "JP", "BR", "IN", "PL", "SE", "NZ"]),
        }

    def _person(self) -> dict:
        first, last = self._skewed(self.names), self._skewed(self.names)
        return {"name": f"{first} {last}", "email": f"{first}.{last}@example.com".lower()}

    def _order(self) -> dict:
        items = [
            {
                "sku": f"SKU-{self.random.randrange(10**6):06}",
                "title": self._phrase(9),
                "quantity": self._skewed([1, 1, 2, 3, 4, 10]),
                "price": round(self.random.lognormvariate(3, 1), 2),
            }
            for _ in range(self.random.randrange(1, 9))
        ]
        return {
            "type": "order", "order_id": self._uuid(), "customer": self._person(), "items": items,
            "created_at": self._time(), "currency": self._skewed(["USD", "EUR", "GBP", "JPY"]),
            "status": self._skewed(["delivered", "shipped", "paid", "pending", "cancelled"]),
            "shipping": {"method": self._skewed(["standard", "express", "pickup"]),
                         "address": self._address()},
        }  # fmt: skip

    def _profile(self) -> dict:
        profile = {
            "type": "user", "id": self._uuid(), **self._person(), "address": self._address(),
            "created_at": self._time(), "is_active": self.random.random() < 0.9,
            "preferences": {
                "language": self._skewed(["en", "de", "fr", "ja", "pt", "pl"]),
                "newsletter": self.random.random() < 0.3,
                "theme": self._skewed(["light", "dark", "auto"]),
            },
            "tags": self.text.some_words(self._skewed([2, 3, 4, 8])),
            "score": round(self.random.random(), 6),
        }  # fmt: skip
        if self.random.random() < 0.7:
            profile["biography"] = self._phrase(130)
        return profile

    def _request(self) -> dict:
        segments = self.text.some_words(3)
        return {
            "type": "request", "time": self._time(),
            "trace_id": f"{self.random.getrandbits(128):032x}",
            "span_id": f"{self.random.getrandbits(64):016x}",
            "level": self._skewed(["INFO", "INFO", "WARN", "DEBUG", "ERROR"]),
            "service": self._skewed(["checkout", "catalog", "search", "accounts", "gateway"]),
            "http": {
                "method": self._skewed(["GET", "GET", "POST", "PUT", "DELETE"]),
                "path": "/api/v1/" + "/".join(segments),
                "status": self._skewed([200, 200, 304, 404, 500]),
                "bytes": int(self.random.lognormvariate(8, 2)),
                "duration_ms": round(self.random.lognormvariate(3, 1.2), 3),
                "user_agent": self._skewed([
                    f"Mozilla/5.0 (X11; Linux x86_64; rv:1{n}.0) Gecko/20100101 Firefox/1{n}.0"
                    for n in range(10, 40)]),
            },
            "client": {"ip": ".".join(str(self.random.randrange(256)) for _ in range(4)),
                       "session": f"{self.random.getrandbits(160):040x}"},
            "message": self._phrase(70),
        }  # fmt: skip

    def _measurement(self) -> dict:
        return {
            "type": "measurement", "sensor": f"sensor-{self.random.randrange(5000):05}",
            "site": self._skewed(self.cities), "time": self._time(),
            "unit": self._skewed(["C", "kPa", "%", "lx"]),
            "values": [round(self.random.gauss(20, 4), 3)
                       for _ in range(self.random.randrange(12, 80))],
            "calibration": {"offset": round(self.random.gauss(0, 0.1), 5), "gain": 1.0,
                            "at": self._time()},
            "quality": self._skewed(["good", "good", "suspect", "bad"]),
            "note": self._phrase(60) if self.random.random() < 0.5 else None,
        }  # fmt: skip

    def document(self) -> str:
        make = self.random.choices(
            [self._order, self._profile, self._request, self._measurement], [5, 2, 4, 2]
        )[0]
        return json.dumps(make())
