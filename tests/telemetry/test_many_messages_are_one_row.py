from webapp.telemetry import bundle


def test_messages_come_out_of_a_row_as_they_went_in():
    sent = [b"\x81one", b"", b"\x28\xb5\x2f\xfd" + bytes(300)]
    [(payload, count)] = bundle.bundles(sent)
    assert count == 3
    assert bundle.messages(payload) == sent


def test_a_row_of_an_earlier_version_is_one_message():
    for message in (b"\x8aas msgpack", b"\x28\xb5\x2f\xfd as zstd"):
        assert bundle.messages(message) == [message]


def test_a_row_does_not_grow_without_end(monkeypatch):
    monkeypatch.setattr(bundle, "MOST_BYTES", 10)
    sent = [b"x" * 4, b"y" * 4, b"z" * 40, b"w"]
    payloads = list(bundle.bundles(sent))
    assert [bundle.messages(payload) for payload, _count in payloads] == [sent[:2], sent[2:3], sent[3:]]
    assert [count for _payload, count in payloads] == [2, 1, 1]
    assert list(bundle.bundles([])) == []
