import Foundation

/// What the shell decides without the phone. Prints how many checks were made; ends at the first that does not hold.
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
        links()
        messages()
        sheets()
        kept()
        print(checks)
    }

    static func links() {
        let own = OwnOrigin(host: "verify.example.org")
        for link in [
            "https://verify.example.org/verify/vs_1",
            "  https://verify.example.org/verify/vs_1#handoff=abc\n",
            "https://verify.example.org:443/verify/vs_1",
            "HTTPS://VERIFY.example.org/verify/vs_1?app=missing",
        ] { check(own.verificationLink(link) != nil, link) }
        for link in [
            "", " ", "vs_1", "https://verify.example.org", "https://verify.example.org/", "https://verify.example.org/verify/",
            "https://verify.example.org/verifyvs_1", "https://verify.example.org/dashboard/verify/vs_1",
            "http://verify.example.org/verify/vs_1", "https://verify.example.org:8443/verify/vs_1",
            "https://example.org/verify/vs_1", "https://verify.example.org.evil.com/verify/vs_1",
            "https://evil.com/https://verify.example.org/verify/vs_1", "https://verify.example.org@evil.com/verify/vs_1",
            "https://me@verify.example.org/verify/vs_1", "https://evil.com\\@verify.example.org/verify/vs_1",
            "https://verify.example.org\\.evil.com/verify/vs_1", "https://evil.com#@verify.example.org/verify/vs_1",
            "https://verify.example.org/verify/vs 1", "https://verify.example.org/verify/vs_\u{202e}1",
            "javascript:https://verify.example.org/verify/vs_1", "file:///verify/vs_1", "//verify.example.org/verify/vs_1",
        ] { check(own.verificationLink(link) == nil, link) }
        check(own.verificationLink(nil) == nil, "no link")
        check(!own.owns(nil), "no address")
        check(own.owns(scheme: "https", host: "verify.example.org", port: 0), "the origin")
        check(own.owns(scheme: "https", host: "Verify.Example.org", port: 443), "the origin with its port")
        check(!own.owns(scheme: "http", host: "verify.example.org", port: 0), "without encryption")
        check(!own.owns(scheme: "https", host: "verify.example.org", port: 8443), "another port")
        check(!own.owns(scheme: "https", host: "example.org", port: 0), "another host")
        check(own.address(ofPath: "/verify/vs_1")?.absoluteString == "https://verify.example.org/verify/vs_1", "a path")
        check(own.address(ofPath: "@evil.com/verify/vs_1") == nil, "a path that is none")
        check(own.address(ofPath: "/dashboard") == nil, "another path")
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
        let first = KeptState.after(nil, path: "/verify/vs_1", entries: "{}", now: now)
        check(first == KeptState(path: "/verify/vs_1", since: now, entries: "{}"), "kept")
        let later = KeptState.after(first, path: "/verify/vs_1", entries: "{\"a\":1}", now: now.addingTimeInterval(3000))
        check(later?.since == now, "a session grows old from its beginning")
        check(later?.isFresh(at: now.addingTimeInterval(3599)) == true, "for an hour")
        check(later?.isFresh(at: now.addingTimeInterval(3600)) == false, "and no longer")
        check(later?.isFresh(at: now.addingTimeInterval(-3600)) == false, "also when the clock was set back")
        let other = KeptState.after(first, path: "/verify/vs_2", entries: "{}", now: now.addingTimeInterval(10))
        check(other?.since == now.addingTimeInterval(10), "another session begins anew")
        check(KeptState.after(first, path: "/verify/vs_1", entries: "", now: now) == nil, "nothing is kept of nothing")
        check(KeptState.after(first, path: "/", entries: String(repeating: "x", count: 8193), now: now) == nil, "nor of too much")
        let script = KeptState.script("use(shellFacts)", readerAvailable: true, kept: first)
        check(script.hasPrefix("((shellFacts) => {\nuse(shellFacts)\n})({"), "the script")
        check(script.contains("\"reader\":\"ready\"") && script.contains("\"kept\":{}"), "with what was kept")
        let broken = KeptState(path: "/verify/vs_1", since: now, entries: "}); alert(1); ({")
        let guarded = KeptState.script("", readerAvailable: false, kept: broken)
        check(!guarded.contains("alert") && guarded.contains("absent"), "what is no JSON is left out")
        let data = try? JSONEncoder().encode(first)
        check(data.flatMap { try? JSONDecoder().decode(KeptState.self, from: $0) } == first, "as it is stored")
    }
}
