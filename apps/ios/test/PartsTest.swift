import Foundation

/// Tests the shell's decisions without the phone. Prints the number of checks; exits at the first failure.
@main
struct PartsTest {
    nonisolated(unsafe) static var checks = 0

    static func check(_ holds: Bool, _ what: String) {
        checks += 1
        if holds { return }
        FileHandle.standardError.write(Data("does not hold: \(what)\n".utf8))
        exit(1)
    }

    static func main() {
        links(CommandLine.arguments[1])
        documents()
        messages()
        sheets()
        kept()
        print(checks)
    }

    /// The table of the Android shell; below "unicode" everything is refused here.
    static func links(_ table: String) {
        guard let text = try? String(contentsOfFile: table, encoding: .utf8) else { return check(false, "the table is there") }
        var isUnicode = false
        for line in text.split(separator: "\n", omittingEmptySubsequences: true) where !line.hasPrefix("#") {
            if line == "unicode" { isUnicode = true }
            guard let tab = line.lastIndex(of: "\t") else { continue }
            let expected = isUnicode ? "refused" : String(line[line.index(after: tab)...])
            let link = ReaderLink.parse(unescaped(String(line[..<tab])), allowed: [])
            check((link?.place ?? "refused") == expected, String(line))
            if let link { check(link.origin.owns(link.url), "opened at what is shown: \(line)") }
        }
        check(isUnicode && checks > 100, "the table was read")
        let host = [62, 62, 62, 60].map { String(repeating: "a", count: $0) }.joined(separator: ".") + ".com"
        check(ReaderLink.parse("https://\(host)/verify/vs_1", allowed: [])?.origin.host == host, "a host of 253 characters")
        check(ReaderLink.parse("https://a\(host)/verify/vs_1", allowed: []) == nil, "and of 254")
        check(ReaderLink.parse(nil, allowed: []) == nil, "no link")
        let link = ReaderLink.parse(" https://A.example/verify/vs_1?a=b#handoff=t\n", allowed: [])
        check(link?.url.absoluteString == "https://a.example/verify/vs_1?a=b#handoff=t", "the token stays with the link")
        let two = ["https://verify.example.org", "https://other.example:8443"]
        check(ReaderLink.parse("https://other.example:8443/verify/vs_1", allowed: two)?.origin.shown == "other.example:8443", "a port")
        for wrong in [
            "https://example.org/verify/vs_1", "https://verify.example.org.evil.test/verify/vs_1",
            "https://verify.example.org:8443/verify/vs_1", "https://other.example/verify/vs_1", "http://verify.example.org/verify/vs_1",
        ] { check(ReaderLink.parse(wrong, allowed: two) == nil, wrong) }
        let own = OwnOrigin(host: "verify.example.org")
        check(!own.owns(nil), "no address")
        check(own.owns(scheme: "https", host: "verify.example.org", port: 0), "the origin")
        check(own.owns(scheme: "https", host: "Verify.Example.org", port: 443), "the origin with its port")
        check(!own.owns(scheme: "http", host: "verify.example.org", port: 0), "without encryption")
        check(!own.owns(scheme: "https", host: "verify.example.org", port: 8443), "another port")
        check(!own.owns(scheme: "https", host: "example.org", port: 0), "another host")
    }

    static func unescaped(_ text: String) -> String {
        var units: [UInt16] = []
        var rest = Substring(text)
        while let character = rest.first {
            if rest.hasPrefix("\\u"), let unit = UInt16(rest.dropFirst(2).prefix(4), radix: 16) {
                units.append(unit)
                rest = rest.dropFirst(6)
            } else {
                units.append(contentsOf: String(character).utf16)
                rest = rest.dropFirst()
            }
        }
        return String(decoding: units, as: UTF16.self)
    }

    static func documents() {
        check(ReaderDocument.isAnswer(status: 200, contentType: "application/json; charset=utf-8"), "json")
        for status in [204, 301, 302, 307, 404, 500] {
            check(!ReaderDocument.isAnswer(status: status, contentType: "application/json"), "status \(status)")
        }
        for type in [nil, "", "text/html", "application/json5"] { check(!ReaderDocument.isAnswer(status: 200, contentType: type), "type") }
        let good = "{\"service\":\"Assay\",\"protocol\":1,\"session_page\":\"/verify/{session}\"}"
        check(ReaderDocument.accepts(Data(good.utf8)), "ours")
        for wrong in [
            "", "[]", "{}", "<!doctype html>", good.replacingOccurrences(of: ":1", with: ":2"),
            good.replacingOccurrences(of: ":1", with: ":\"1\""), good.replacingOccurrences(of: ":1", with: ":true"),
            good.replacingOccurrences(of: "/verify/", with: "https://evil.test/"), good + String(repeating: " ", count: 4096),
        ] { check(!ReaderDocument.accepts(Data(wrong.utf8)), wrong) }
        func partner(_ name: String) -> String? {
            ReaderDocument.partner(Data("{\"data\":{\"organization\":{\"name\":\(name)}}}".utf8))
        }
        check(partner("\"Acme Shop\"") == "Acme Shop", "a name")
        check(partner("\"\\u202emoc.elpmaxe\\u202c\"") == "moc.elpmaxe", "direction of the text")
        check(partner("\"\(String(repeating: "x", count: 5000))\"")?.count == 100, "a long name")
        for wrong in ["null", "1", "{}", "\"\"", "\"  \"", "\"\\u202e\""] { check(partner(wrong) == nil, wrong) }
    }

    static func messages() {
        check(ShellMessage("transceive 00a4000c") == .transceive([0, 0xa4, 0, 0x0c]), "a command")
        check(ShellMessage("reset") == .reset, "a reset")
        check(ShellMessage("cancel") == .cancel, "an end")
        check(ShellMessage("progress portrait 40") == .progress(.portrait, percent: 40), "progress")
        check(ShellMessage("progress opening -") == .progress(.opening, percent: nil), "progress without a part")
        check(ShellMessage("keep ") == .keep(""), "nothing to keep")
        check(ShellMessage("keep {\"a\": \"b c\"}") == .keep("{\"a\": \"b c\"}"), "something to keep")
        for text in [
            "", "transceive", "transceive ", "transceive 0", "transceive 0g", "transceive 00A4", "transceive 00 a4", " reset", "reset 1",
            "cancel now", "progress", "progress portrait", "progress portrait 101", "progress portrait -1", "progress elsewhere 1", "keep",
        ] { check(ShellMessage(text) == nil, "no message: \(text)") }
        check(ShellReply.answer([0x90, 0]).text(applicationSelected: true) == "answer 9000 1", "an answer")
        check(ShellReply.answer([]).text(applicationSelected: false) == "answer  0", "an empty answer")
        check(ShellReply.done.text(applicationSelected: true) == "done 1", "done")
        check(ShellReply.lost(.timeout).text(applicationSelected: false) == "lost timeout 0", "a loss")
        check(Loss(sheetEndedWith: 200) == .cancelled, "closed by the person")
        check(Loss(sheetEndedWith: 201) == .timeout, "after 60 seconds")
        check(Loss(sheetEndedWith: 203) == .busy, "another reader")
        check(Loss(sheetEndedWith: 2) == .unavailable, "a missing entitlement")
        check(Loss(commandFailedWith: 100) == .left, "a chip that left")
        check(Loss(commandFailedWith: 102) == .left, "a chip that does not answer")
        check(Loss(commandFailedWith: 105) == .refused, "a command that is too long")
    }

    static func sheets() {
        let application = Sheet.Search.application
        check(application.next(foundChip: true, afterSeconds: 60) == .application, "what found a chip is kept")
        check(application.next(foundChip: false, afterSeconds: 5) == .application, "whoever closes it soon was not ready")
        check(application.next(foundChip: false, afterSeconds: 60) == .pace, "after a minute without a chip it is PACE")
        check(Sheet.Search.pace.next(foundChip: true, afterSeconds: 60) == .pace, "which is kept when it found one")
        check(Sheet.Search.pace.next(foundChip: false, afterSeconds: 60) == .application, "and given up when not")
        check(Sheet.Search.either.next(foundChip: false, afterSeconds: 60) == .either, "who looks for both goes on so")
        check(application.selectsApplication && Sheet.Search.either.selectsApplication, "selected")
        check(!Sheet.Search.pace.selectsApplication, "PACE comes before the application")
        check(Sheet.progress(.portrait, percent: 42).bar == "●●●●○○○○○○", "four tenths")
        check(Sheet.progress(.portrait, percent: 100).bar == "●●●●●●●●●●", "all of it")
        check(Sheet.progress(.opening, percent: nil).bar == "○○○○○○○○○○", "nothing yet")
        check(ReadStep.allCases.allSatisfy { Sheet.progress($0, percent: 0).bar.count == 10 }, "ten marks at every step")
        check(Sheet.endsWell(lastStep: .portrait, lost: false), "a chip that was read ends well")
        check(!Sheet.endsWell(lastStep: .portrait, lost: true), "one that left does not")
        check(!Sheet.endsWell(lastStep: .opening, lost: false), "one that was not opened does not")
        check(!Sheet.endsWell(lastStep: nil, lost: false), "none at all does not")
    }

    static func kept() {
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        let first = KeptState.after(nil, place: "https://a.example/verify/vs_1", entries: "{}", now: now)
        check(first == KeptState(place: "https://a.example/verify/vs_1", since: now, entries: "{}"), "kept")
        let later = KeptState.after(first, place: "https://a.example/verify/vs_1", entries: "{\"a\":1}", now: now.addingTimeInterval(3000))
        check(later?.since == now, "a session grows old from its beginning")
        check(later?.isFresh(at: now.addingTimeInterval(3599)) == true, "for an hour")
        check(later?.isFresh(at: now.addingTimeInterval(3600)) == false, "and no longer")
        check(later?.isFresh(at: now.addingTimeInterval(-3600)) == false, "also when the clock was set back")
        let other = KeptState.after(first, place: "https://a.example/verify/vs_2", entries: "{}", now: now.addingTimeInterval(10))
        check(other?.since == now.addingTimeInterval(10), "another session begins anew")
        check(KeptState.after(first, place: "https://a.example/verify/vs_1", entries: "", now: now) == nil, "nothing is kept of nothing")
        check(KeptState.after(first, place: "/", entries: String(repeating: "x", count: 8193), now: now) == nil, "nor of too much")
        let script = KeptState.script("use(shellFacts)", readerAvailable: true, kept: first)
        check(script.hasPrefix("((shellFacts) => {\nuse(shellFacts)\n})({"), "the script")
        check(script.contains("\"reader\":\"ready\"") && script.contains("\"kept\":{}"), "with what was kept")
        let broken = KeptState(place: "https://a.example/verify/vs_1", since: now, entries: "}); alert(1); ({")
        let guarded = KeptState.script("", readerAvailable: false, kept: broken)
        check(!guarded.contains("alert") && guarded.contains("absent"), "what is no JSON is left out")
        let data = try? JSONEncoder().encode(first)
        check(data.flatMap { try? JSONDecoder().decode(KeptState.self, from: $0) } == first, "as it is stored")
    }
}
