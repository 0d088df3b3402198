import Foundation

/// State that the page needs after the system has ended the app: the tokens of one session, as the page gave
/// them. Needs only Foundation; Keychain.swift stores it.
struct KeptState: Codable, Equatable {
    /// The lifetime of a session. Shorter: slow people lose their state. Longer: useless tokens stay on the
    /// phone.
    static let lifetimeSeconds = 3600.0
    /// The page keeps a few tokens of some dozen characters.
    static let maxCharacters = 8192

    /// The origin and path of the session that it belongs to.
    let place: String
    let since: Date
    /// JSON of the page; the shell looks at none of it.
    let entries: String

    /// The next stored state; nil to delete it.
    static func after(_ kept: KeptState?, place: String, entries: String, now: Date) -> KeptState? {
        if entries.isEmpty || entries.utf16.count > maxCharacters { return nil }
        let since = kept?.place == place ? kept?.since ?? now : now
        return KeptState(place: place, since: since, entries: entries)
    }

    /// A clock that was set back makes a state of the future; it would never grow old.
    func isFresh(at now: Date) -> Bool {
        abs(now.timeIntervalSince(since)) < Self.lifetimeSeconds
    }

    /// The page's script, with the facts known when the page is made. Entries that are no JSON are left out.
    static func script(_ source: String, readerAvailable: Bool, kept: KeptState?) -> String {
        var facts: [String: Any] = ["reader": readerAvailable ? "ready" : "absent"]
        if let kept, let entries = try? JSONSerialization.jsonObject(with: Data(kept.entries.utf8)) {
            facts["kept"] = entries
        }
        let json = (try? JSONSerialization.data(withJSONObject: facts)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
        return "((shellFacts) => {\n\(source)\n})(\(json));"
    }
}
