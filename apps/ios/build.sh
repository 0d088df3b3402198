#!/bin/sh
# Builds the iPhone app with its App Clip, on a Mac with Xcode 16 or later:
#
#   apps/ios/build.sh check     compiles both for a phone, without signing anything
#   apps/ios/build.sh archive   signs them by Local.xcconfig, and leaves build/Assay.xcarchive
#   apps/ios/build.sh export    makes build/export of the archive, for the App Store
#
# docs/iphone-app.md says what was never tried, and what to try first.
set -eu
cd "$(dirname "$0")"

if ! command -v xcodebuild >/dev/null; then
  echo "xcodebuild is missing: this needs a Mac with Xcode 16 or later." >&2
  exit 1
fi

setting() {
  xcodebuild -project Assay.xcodeproj -scheme Assay -configuration Release -showBuildSettings 2>/dev/null |
    sed -n "s/^ *$1 = //p" | head -n 1
}

build() {
  xcodebuild -project Assay.xcodeproj -scheme Assay -configuration Release \
    -destination "generic/platform=iOS" -derivedDataPath build/derived "$@"
}

case "${1-}" in
  check)
    build build CODE_SIGNING_ALLOWED=NO
    # Apple takes no App Clip above 15 MB once it is unpacked for a phone.
    du -sk build/derived/Build/Products/Release-iphoneos/Assay.app/AppClips/AssayClip.app
    ;;
  archive)
    build archive -archivePath build/Assay.xcarchive -allowProvisioningUpdates
    team=$(setting ASSAY_TEAM)
    bundle=$(setting ASSAY_BUNDLE_ID)
    echo "Give this to the service, with the number of your app in the App Store:"
    echo "READER_APP_IOS=\"app=$team.$bundle,clip=$team.$bundle.Clip,install=https://apps.apple.com/app/idNUMBER\""
    ;;
  export)
    team=$(setting ASSAY_TEAM)
    mkdir -p build
    cat >build/ExportOptions.plist <<PLIST
<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
	<key>method</key>
	<string>app-store-connect</string>
	<key>teamID</key>
	<string>$team</string>
</dict>
</plist>
PLIST
    xcodebuild -exportArchive -archivePath build/Assay.xcarchive -exportPath build/export \
      -exportOptionsPlist build/ExportOptions.plist -allowProvisioningUpdates
    ;;
  *)
    sed -n '2,8p' "$0" | sed 's/^# \{0,1\}//'
    exit 2
    ;;
esac
