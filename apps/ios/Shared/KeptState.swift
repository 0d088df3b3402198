import Foundation

/// What the page wants to find again after the system has ended the app: the tokens of one session, as the page gave them. Needs nothing but
/// Foundation; Keychain.swift stores it.
struct KeptState: Codable, Equatable {
    /// A session lives this long. Half: slow people lose their place. Twice: tokens lie about that open nothing.
    static let lifetimeSeconds = 3600.0
    /// The page keeps a few tokens of some dozen characters.
    static let maxCharacters = 8192

    /// The origin and path of the session that it belongs to.
    let place: String
    let since: Date
    /// JSON of the page; the shell looks at none of it.
    let entries: String

    /// What is kept next; nil when nothing is to be kept any more.
    static func after(_ kept: KeptState?, place: String, entries: String, now: Date) -> KeptState? {
        if entries.isEmpty || entries.utf16.count > maxCharacters { return nil }
        let since = kept?.place == place ? kept?.since ?? now : now
        return KeptState(place: place, since: since, entries: entries)
    }

    /// A clock that was set back makes a state of the future; it would never grow old.
    func isFresh(at now: Date) -> Bool {
        abs(now.timeIntervalSince(since)) < Self.lifetimeSeconds
    }

    /// The script of the page, with what the shell knew when it made the page. The entries are JSON, or they are left out.
    static func script(_ source: String, readerAvailable: Bool, kept: KeptState?) -> String {
        var facts: [String: Any] = ["reader": readerAvailable ? "ready" : "absent"]
        if let kept, let entries = try? JSONSerialization.jsonObject(with: Data(kept.entries.utf8)) {
            facts["kept"] = entries
        }
        let json = (try? JSONSerialization.data(withJSONObject: facts)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
        return "((shellFacts) => {\n\(source)\n})(\(json));"
    }
}
