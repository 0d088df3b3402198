/** From Maven's own central place, pinned by content. Licences: Apache-2.0 unless it says otherwise. */
export type Archive = { coordinates: string; sha256: string };

/** The API to compile and link against; nothing of it ends up in the package. The tests run on it. */
export const androidApi: Archive = {
  coordinates: "org.robolectric:android-all:14-robolectric-10818077",
  sha256: "6be2218c6a53fe3c57bc22ebdc723edcb7270a8a6f187545708aa5c0ed813977",
};

/** Translates to Android's byte code. */
export const dexer: Archive = {
  coordinates: "com.jakewharton.android.repackaged:dalvik-dx:16.0.1",
  sha256: "1e4b645628e3bdb097b5331d669e177ef235a551582a8c646dbe36865e541907",
};

/**
 * Robolectric, which runs Android's code on a JVM, and its dependencies. The few classes of AndroidX that it
 * needs are in test/support, because Maven Central does not have that library. Licences: MIT (Robolectric),
 * EPL-1.0 (JUnit), BSD-3-Clause (ASM, Hamcrest), MIT (Bouncy Castle), Unicode-3.0 (ICU), CDDL-1.1
 * (javax.annotation), Apache-2.0 (the rest). They run tests and are not distributed.
 */
export const testArchives: readonly Archive[] = [
  {
    coordinates: "org.robolectric:annotations:4.16.1",
    sha256: "65a55f0b3cbcfbfc675b0c9075a30edc3b95e6e772a911d874197cc528c9d7b1",
  },
  {
    coordinates: "org.ow2.asm:asm:9.8",
    sha256: "876eab6a83daecad5ca67eb9fcabb063c97b5aeb8cf1fca7a989ecde17522051",
  },
  {
    coordinates: "org.ow2.asm:asm-commons:9.8",
    sha256: "3301a1c1cb4c59fcc5292648dac1d7c5aed4c0f067dfbe88873b8cdfe77404f4",
  },
  {
    coordinates: "org.ow2.asm:asm-tree:9.8",
    sha256: "14b7880cb7c85eed101e2710432fc3ffb83275532a6a894dc4c4095d49ad59f1",
  },
  {
    coordinates: "com.google.auto.value:auto-value-annotations:1.11.0",
    sha256: "5a055ce4255333b3346e1a8703da5bf8ff049532286fdcd31712d624abe111dd",
  },
  {
    coordinates: "org.bouncycastle:bcprov-jdk18on:1.81",
    sha256: "249f396412b0c0ce67f25c8197da757b241b8be3ec4199386c00704a2457459b",
  },
  {
    coordinates: "org.conscrypt:conscrypt-openjdk-uber:2.5.2",
    sha256: "eaf537d98e033d0f0451cd1b8cc74e02d7b55ec882da63c88060d806ba89c348",
  },
  {
    coordinates: "com.google.guava:failureaccess:1.0.3",
    sha256: "cbfc3906b19b8f55dd7cfd6dfe0aa4532e834250d7f080bd8d211a3e246b59cb",
  },
  {
    coordinates: "com.google.guava:guava:33.4.8-jre",
    sha256: "f3d7f57f67fd622f4d468dfdd692b3a5e3909246c28017ac3263405f0fe617ed",
  },
  {
    coordinates: "org.hamcrest:hamcrest-core:1.3",
    sha256: "66fdef91e9739348df7a096aa384a5685f4e875584cce89386a7a47251c4d8e9",
  },
  {
    coordinates: "com.ibm.icu:icu4j:77.1",
    sha256: "b3640b9f416a4411fd33c59abbeea8fd57d024c23e1819bf9673220a97499fe3",
  },
  {
    coordinates: "javax.annotation:javax.annotation-api:1.3.2",
    sha256: "e04ba5195bcd555dc95650f7cc614d151e4bcd52d29a10b8aa2197f3ab89ab9b",
  },
  {
    coordinates: "javax.inject:javax.inject:1",
    sha256: "91c77044a50c481636c32d916fd89c9118a72195390452c81065080f957de7ff",
  },
  {
    coordinates: "junit:junit:4.13.2",
    sha256: "8e495b634469d64fb8acfa3495a065cbacc8a0fff55ce1e31007be4c16dc57d3",
  },
  {
    coordinates: "org.robolectric:junit:4.16.1",
    sha256: "c5b1a61599347ab9a5dc692104b457cd3c31375cd6eecf9b956749309091b5e8",
  },
  {
    coordinates: "org.robolectric:nativeruntime:4.16.1",
    sha256: "55e339282dde0466dcfbce0fd861562bed59bc43f41012d21d750d07147c9e98",
  },
  {
    coordinates: "org.robolectric:pluginapi:4.16.1",
    sha256: "ba72852745647202c40f1937ddca813bfa1be7707f84e3f65beae2c49d592174",
  },
  {
    coordinates: "org.robolectric:plugins-maven-dependency-resolver:4.16.1",
    sha256: "6643b0d9bfdf192a4b971f50e61aa93816b75b9a4334e693f0e2dcedc88b944a",
  },
  {
    coordinates: "org.robolectric:resources:4.16.1",
    sha256: "fb16b2c000cc1b91c6f26b6f6c08459e5b1ee35d99cfb908f20a73a05f3f962c",
  },
  {
    coordinates: "org.robolectric:robolectric:4.16.1",
    sha256: "ebfd48a0255689b0e58a3bbc6c794dc0c0d7b48ce31006fe2613cf7548cba229",
  },
  {
    coordinates: "org.robolectric:sandbox:4.16.1",
    sha256: "14a9bd67d4765c5d6c4ff57ddf339cb447e63df4a46bac650c093a15e2209bdf",
  },
  {
    coordinates: "org.robolectric:shadowapi:4.16.1",
    sha256: "6f997b1c0d169a01a967dff2661a95f4c2c2b5b008e8b9e1fba0b2682d6f8c6d",
  },
  {
    coordinates: "org.robolectric:shadows-framework:4.16.1",
    sha256: "a59802cffec783aa0e7df1489b0c2ce1126ef7cdedb940ffc378eb61e86958c8",
  },
  {
    coordinates: "com.almworks.sqlite4java:sqlite4java:1.0.392",
    sha256: "243a64470fda0e86a6fddeb0af4c7aa9426ce84e68cbfe18d75ee5da4b7e0b92",
  },
  {
    coordinates: "org.robolectric:utils:4.16.1",
    sha256: "8088e94dcaa5cd36251492b1e1155ea2b636756b2271dbbb2d325a012c8a30e2",
  },
  {
    coordinates: "org.robolectric:utils-reflector:4.16.1",
    sha256: "f1c49f95cb3a94ec6fcebfdf1753dd12a879ce5703b3b851f63fb8b412210eb9",
  },
];
