import Foundation
import Security

/// One sealed entry that never leaves the phone: not in a backup, not in the cloud, and not readable while
/// the phone is locked. It outlives the app, so its content holds its expiry.
enum Keychain {
    private static var query: [CFString: Any] {
        [kSecClass: kSecClassGenericPassword, kSecAttrService: "kept", kSecAttrAccount: "session"]
    }

    static func load(now: Date) -> KeptState? {
        var found: CFTypeRef?
        let asked = query.merging([kSecReturnData: true, kSecMatchLimit: kSecMatchLimitOne]) { _, new in new }
        guard SecItemCopyMatching(asked as CFDictionary, &found) == errSecSuccess, let data = found as? Data else {
            return nil
        }
        guard let kept = try? JSONDecoder().decode(KeptState.self, from: data), kept.isFresh(at: now) else {
            store(nil)
            return nil
        }
        return kept
    }

    /// If it cannot be stored, the page starts over after an end; an older state must not return instead.
    static func store(_ kept: KeptState?) {
        SecItemDelete(query as CFDictionary)
        guard let kept, let data = try? JSONEncoder().encode(kept) else { return }
        let added: [CFString: Any] = [
            kSecValueData: data,
            kSecAttrAccessible: kSecAttrAccessibleWhenUnlockedThisDeviceOnly,
            kSecAttrSynchronizable: false,
        ]
        SecItemAdd(query.merging(added) { _, new in new } as CFDictionary, nil)
    }
}
