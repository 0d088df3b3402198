import { appFilePath, type InstallPlaces } from "../../platform/pages/install.ts";
import { type AndroidReaderApp, type IosReaderApp, storeNumberOf } from "../../settings/reader-apps.ts";

/** The operator's own apps, and the two documents by which a phone learns that links of this origin belong to them. */
export type ReaderApps = { android: AndroidReaderApp | null; ios: IosReaderApp | null };

/** Only verifications open in an app; everything else of this origin stays in the browser. */
const appPaths = "/verify/*";

/** `/.well-known/assetlinks.json` (Digital Asset Links). */
export function assetLinksOf(app: AndroidReaderApp): unknown {
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
 * `/.well-known/assay-reader.json`. The app for every installation opens an origin only where this is answered, so that a link cannot lead it to any page of the web.
 * `protocol` moves when an app of today could not read here any more.
 */
const readerDocument = { service: "Assay", protocol: 1, session_page: "/verify/{session}" } as const;

/** The documents that phones and apps fetch, by path; those of apps that there are not are not there. */
export function wellKnownDocuments({ android, ios }: ReaderApps): ReadonlyMap<string, unknown> {
  const documents = new Map<string, unknown>([["/.well-known/assay-reader.json", readerDocument]]);
  if (android !== null) documents.set("/.well-known/assetlinks.json", assetLinksOf(android));
  if (ios !== null) documents.set("/.well-known/apple-app-site-association", appSiteAssociationOf(ios));
  return documents;
}

/** Where the page at `/app` leads. A place that the operator named comes before the file that this service gives out. */
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
 * Has Safari offer the app, or show the card of the App Clip, above the page. A link of the page cannot do that: Safari keeps links
 * within one site to itself. Null where the app is not in the App Store, whose number it needs.
 */
export function appBannerOf(app: IosReaderApp | null): string | null {
  const number = app === null ? null : storeNumberOf(app);
  if (app === null || number === null) return null;
  const bundle = app.clipId?.slice(app.clipId.indexOf(".") + 1);
  const clip = bundle === undefined ? "" : `, app-clip-bundle-id=${bundle}, app-clip-display=card`;
  return `<meta name="apple-itunes-app" content="app-id=${number}${clip}" />`;
}

/** What the person's page is told. Neither package nor team is a secret: the documents above say both to everybody. */
export function viewReaderApps({ android, ios }: ReaderApps, publicUrl: string) {
  return {
    android: android && {
      package_name: android.packageName,
      install_url: android.installUrl ?? `${publicUrl}/app`,
    },
    ios: ios && { app_clip: ios.clipId !== null, install_url: ios.installUrl },
  };
}
