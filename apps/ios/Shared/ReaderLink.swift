import Foundation

/// A link to a verification. It is shown and opened in one canonical form, so that no other program reads
/// another host from it. Needs only Foundation. The rules are those of ReaderLink.java, except that non-ASCII
/// names are refused: newer systems repair invalid addresses, each in its own way.
struct ReaderLink: Equatable {
    let origin: OwnOrigin
    let session: String
    /// The whole link, with the token that may follow its #.
    let url: URL

    /// What names the session, without a token.
    var place: String { "\(origin.text)/verify/\(session)" }

    private static let maxCharacters = 2048
    private static let maxHostCharacters = 253

    /// The link in a typed or pasted text or from the system; nil if it may not be opened. `allowed`: the
    /// origins that the app was built for. Empty means every https origin with a public name.
    static func parse(_ text: String?, allowed: [String]) -> ReaderLink? {
        guard let link = text?.trimmingCharacters(in: .whitespacesAndNewlines), link.count <= maxCharacters else { return nil }
        let form = "^(?i:https)://([A-Za-z0-9.-]+)(?::([0-9]{1,5}))?/verify/(vs_[A-Za-z0-9]{1,128})((?:\\?\(plain)*)?(?:#\(plain)*)?)$"
        guard let parts = groups(of: form, in: link), let given = parts[0], let session = parts[2] else { return nil }
        let host = given.lowercased()
        let port = parts[1].map { Int($0) ?? 0 } ?? OwnOrigin.usualPort
        guard (1...65535).contains(port), isName(host) else { return nil }
        let origin = OwnOrigin(host: host, port: port)
        guard allowed.isEmpty ? isPublic(host) : allowed.contains(origin.text) else { return nil }
        // The system has to find the same host.
        guard let url = URL(string: "\(origin.text)/verify/\(session)\(parts[3] ?? "")"), origin.owns(url) else { return nil }
        return ReaderLink(origin: origin, session: session, url: url)
    }

    /// Every character that may follow a path (RFC 3986).
    private static let plain = "(?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})"

    private static func isName(_ host: String) -> Bool {
        host.count <= maxHostCharacters
            && host.split(separator: ".", omittingEmptySubsequences: false).allSatisfy {
                groups(of: "^([a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)$", in: String($0)) != nil
            }
    }

    /// A last label that begins with a digit would make an IP address.
    private static func isPublic(_ host: String) -> Bool {
        groups(of: "\\.([a-z][a-z0-9-]{0,61}[a-z0-9])$", in: host) != nil
    }

    private static func groups(of form: String, in text: String) -> [String?]? {
        guard let expression = try? NSRegularExpression(pattern: form) else { return nil }
        let whole = NSRange(text.startIndex..., in: text)
        // `$` also holds before a last line break, so the match has to be as long as the text.
        guard let match = expression.firstMatch(in: text, range: whole), NSMaxRange(match.range) == NSMaxRange(whole) else { return nil }
        return (1..<match.numberOfRanges).map { Range(match.range(at: $0), in: text).map { String(text[$0]) } }
    }
}
