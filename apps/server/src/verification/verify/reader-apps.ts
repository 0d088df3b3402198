import { appFilePath, type InstallPlaces } from "../../platform/pages/install.ts";
import { type AndroidReaderApp, type IosReaderApp, storeNumberOf } from "../../settings/reader-apps.ts";

/** The operator's own apps. Two documents prove to phones that links of this origin belong to them. */
export type ReaderApps = { android: AndroidReaderApp | null; ios: IosReaderApp | null };

/** Only verifications open in an app; everything else of this origin stays in the browser. */
const appPaths = "/verify/*";

/** `/.well-known/assetlinks.json` (Digital Asset Links). */
function assetLinksOf(app: AndroidReaderApp): unknown {
  return [
    {
      relation: ["delegate_permission/common.handle_all_urls"],
      target: {
        namespace: "android_app",
        package_name: app.packageName,
        sha256_cert_fingerprints: app.certificateDigests,
      },
    },
  ];
}

/** `/.well-known/apple-app-site-association` (Universal Links and App Clips). */
export function appSiteAssociationOf(app: IosReaderApp): unknown {
  return {
    applinks: { details: [{ appIDs: [app.appId], components: [{ "/": appPaths }] }] },
    ...(app.clipId === null ? {} : { appclips: { apps: [app.clipId] } }),
  };
}

/**
 * `/.well-known/assay-reader.json`. The app for every installation opens only origins that serve it, so that
 * a link cannot open any other page. `protocol` increases when today's apps could no longer read here.
 */
const readerDocument = { service: "Assay", protocol: 1, session_page: "/verify/{session}" } as const;

/** The documents that phones and apps fetch, by path, for the apps that are configured. */
export function wellKnownDocuments({ android, ios }: ReaderApps): ReadonlyMap<string, unknown> {
  const documents = new Map<string, unknown>([["/.well-known/assay-reader.json", readerDocument]]);
  if (android !== null) documents.set("/.well-known/assetlinks.json", assetLinksOf(android));
  if (ios !== null) documents.set("/.well-known/apple-app-site-association", appSiteAssociationOf(ios));
  return documents;
}

/** Where the page at `/app` leads: to the operator's address, else to the file of this service. */
export function installPlacesOf({ android, ios }: ReaderApps, androidFile: string): InstallPlaces {
  const named = android?.installUrl ?? null;
  return {
    android:
      named !== null
        ? { kind: "store", url: named }
        : androidFile === ""
          ? null
          : { kind: "file", url: appFilePath },
    iosUrl: ios?.installUrl ?? null,
  };
}

/**
 * Makes Safari offer the app, or the App Clip card, above the page. A link in the page cannot: Safari opens
 * links within one site itself. Null if the app is not in the App Store, because its number is needed.
 */
export function appBannerOf(app: IosReaderApp | null): string | null {
  const number = app === null ? null : storeNumberOf(app);
  if (app === null || number === null) return null;
  const bundle = app.clipId?.slice(app.clipId.indexOf(".") + 1);
  const clip = bundle === undefined ? "" : `, app-clip-bundle-id=${bundle}, app-clip-display=card`;
  return `<meta name="apple-itunes-app" content="app-id=${number}${clip}" />`;
}

/** The apps for the person's page. Package and team are public: the documents above contain them. */
export function viewReaderApps({ android, ios }: ReaderApps, publicUrl: string) {
  return {
    android: android && {
      package_name: android.packageName,
      install_url: android.installUrl ?? `${publicUrl}/app`,
    },
    ios: ios && { app_clip: ios.clipId !== null, install_url: ios.installUrl },
  };
}
