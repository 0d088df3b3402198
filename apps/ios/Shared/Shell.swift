import UIKit

@main
final class AppDelegate: UIResponder, UIApplicationDelegate {}

/// The one window. It shows the session of the link that the app was opened with, or the one that it was ended in.
final class SceneDelegate: UIResponder, UIWindowSceneDelegate {
    var window: UIWindow?
    private var page: PageController?
    private let own = OwnOrigin(host: SceneDelegate.builtForHost)

    private static let builtForHost: String = {
        guard let host = Bundle.main.object(forInfoDictionaryKey: "AssayHost") as? String, !host.isEmpty else {
            fatalError("Info.plist names no AssayHost")
        }
        return host.lowercased()
    }()

    func scene(_ scene: UIScene, willConnectTo session: UISceneSession, options: UIScene.ConnectionOptions) {
        guard let scene = scene as? UIWindowScene else { return }
        let window = UIWindow(windowScene: scene)
        self.window = window
        if let link = options.userActivities.compactMap(linkOf).first {
            show(link)
        } else if let kept = Keychain.load(now: Date()), let link = own.address(ofPath: kept.path) {
            show(link)
        } else {
            showEntry(failed: nil)
        }
        window.makeKeyAndVisible()
    }

    /// A Universal Link, or the invocation of the App Clip, while the app runs.
    func scene(_ scene: UIScene, continue userActivity: NSUserActivity) {
        if let link = linkOf(userActivity) { show(link) }
    }

    func sceneDidEnterBackground(_ scene: UIScene) {
        page?.covered(true)
    }

    func sceneWillEnterForeground(_ scene: UIScene) {
        page?.covered(false)
    }

    private func linkOf(_ activity: NSUserActivity) -> URL? {
        guard activity.activityType == NSUserActivityTypeBrowsingWeb else { return nil }
        return own.verificationLink(activity.webpageURL?.absoluteString)
    }

    /// Every link gets a page of its own: one that differs only behind the # would not load the page anew.
    private func show(_ link: URL) {
        page?.close()
        var kept = Keychain.load(now: Date())
        if let other = kept, other.path != OwnOrigin.sessionPath(of: link) {
            Keychain.store(nil)
            kept = nil
        }
        let page = PageController(link: link, own: own, kept: kept) { [weak self] in self?.showEntry(failed: link) }
        self.page = page
        window?.rootViewController = page
    }

    private func showEntry(failed: URL?) {
        page?.close()
        page = nil
        window?.rootViewController = EntryController(own: own, failed: failed) { [weak self] in self?.show($0) }
    }
}
