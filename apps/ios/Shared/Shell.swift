import UIKit

@main
final class AppDelegate: UIResponder, UIApplicationDelegate {}

/// The only window. It shows the session of the link that opened the app, or the one in which the app was
/// ended. An app built for one origin opens its links at once; any other asks the person first.
final class SceneDelegate: UIResponder, UIWindowSceneDelegate {
    var window: UIWindow?
    private var page: PageController?
    private let asks = SceneDelegate.setting("AssayAsks") == "YES"
    private let allowed = SceneDelegate.origins

    private static func setting(_ name: String) -> String {
        (Bundle.main.object(forInfoDictionaryKey: name) as? String ?? "").trimmingCharacters(in: .whitespaces)
    }

    /// Those that the app opens; none for every https origin.
    private static var origins: [String] {
        let hosts = setting(setting("AssayAsks") == "YES" ? "AssayAllow" : "AssayHost").lowercased()
        return hosts.split(separator: " ").map { "https://\($0)" }
    }

    func scene(_ scene: UIScene, willConnectTo session: UISceneSession, options: UIScene.ConnectionOptions) {
        guard let scene = scene as? UIWindowScene else { return }
        let window = UIWindow(windowScene: scene)
        self.window = window
        if let link = options.userActivities.compactMap(linkOf).first {
            open(link)
        } else if let kept = Keychain.load(now: Date()), let link = readLink(kept.place) {
            show(link)
        } else {
            showEntry()
        }
        window.makeKeyAndVisible()
    }

    /// A Universal Link, or the invocation of the App Clip, while the app runs.
    func scene(_ scene: UIScene, continue userActivity: NSUserActivity) {
        if let link = linkOf(userActivity) { open(link) }
    }

    func sceneDidEnterBackground(_ scene: UIScene) {
        page?.covered(true)
        if window?.rootViewController is ScanController { showEntry() }
    }

    func sceneWillEnterForeground(_ scene: UIScene) {
        page?.covered(false)
    }

    private func readLink(_ text: String?) -> ReaderLink? {
        ReaderLink.parse(text, allowed: allowed)
    }

    private func linkOf(_ activity: NSUserActivity) -> ReaderLink? {
        guard activity.activityType == NSUserActivityTypeBrowsingWeb else { return nil }
        return readLink(activity.webpageURL?.absoluteString)
    }

    /// A session that was begun here within the hour was agreed to then.
    private func open(_ link: ReaderLink) {
        if !asks || Keychain.load(now: Date())?.place == link.place {
            show(link)
            return
        }
        closePage()
        window?.rootViewController = AskController(link: link) { [weak self] answer in
            switch answer {
            case .agreed: self?.show(link)
            case .declined: self?.showEntry()
            case .refused:
                self?.showEntry(problem: String(format: TextKey.askRefused.text, "\u{2066}\(link.origin.shown)\u{2069}"))
            case .unreachable: self?.showEntry(link: link, problem: TextKey.entryOffline.text)
            }
        }
    }

    /// Every link gets a new page: one that differs only after the # would not reload it.
    private func show(_ link: ReaderLink) {
        closePage()
        var kept = Keychain.load(now: Date())
        if let other = kept, other.place != link.place {
            Keychain.store(nil)
            kept = nil
        }
        let page = PageController(link: link, allowed: allowed, kept: kept) { [weak self] in
            self?.showEntry(link: link, problem: TextKey.entryOffline.text)
        }
        self.page = page
        window?.rootViewController = page
    }

    private func closePage() {
        page?.close()
        page = nil
    }

    private func showEntry(link: ReaderLink? = nil, problem: String? = nil) {
        closePage()
        window?.rootViewController = EntryController(
            link: link,
            problem: problem,
            read: { [allowed] in ReaderLink.parse($0, allowed: allowed) },
            onLink: { [weak self] in self?.open($0) },
            onScan: { [weak self] in self?.showScan() }
        )
    }

    private func showScan() {
        let read = { [allowed] (text: String?) in ReaderLink.parse(text, allowed: allowed) }
        window?.rootViewController = ScanController(read: read) { [weak self] answer in
            switch answer {
            case .scanned(let link): self?.open(link)
            case .back: self?.showEntry()
            case .noCamera: self?.showEntry(problem: TextKey.scanNoCamera.text)
            }
        }
    }
}
