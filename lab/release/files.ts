/** The files that carry the version. `server/package.json` decides; the others follow it. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

interface Package {
  readonly name: string
  readonly version: string
  readonly repository: { readonly url: string }
}

const OF_PACKAGE = /(?<=^ {2}"version": ").*(?=",$)/gm
/** Each with the places of the version in it. In the lock file these are its head, the workspace and the server. */
const FOLLOWERS: readonly (readonly [file: string, places: RegExp])[] = [
  ['package.json', OF_PACKAGE],
  [
    'package-lock.json',
    /(?<=^ {2}"version": "|^ {6}"name": "torana(?:-workspace)?",\n {6}"version": ").*(?=",$)/gm,
  ],
  ['deploy/helm/torana/Chart.yaml', /(?<=^(?:version|appVersion): ).*$/gm],
]

export function packageOf(root: string): Package {
  return JSON.parse(readFileSync(join(root, 'server/package.json'), 'utf8')) as Package
}

export function changelogOf(root: string): string {
  return readFileSync(join(root, 'CHANGELOG.md'), 'utf8')
}

/** Files whose version is another than the package's, each as a sentence. */
export function strayVersionsOf(root: string): string[] {
  const { version } = packageOf(root)
  return FOLLOWERS.flatMap(([file, places]) => {
    const found = readFileSync(join(root, file), 'utf8').match(places) ?? ['no version']
    return found.filter((other) => other !== version).map((other) => `${file} has ${other}, not ${version}`)
  })
}

export function writeVersion(root: string, version: string): void {
  for (const [file, places] of [['server/package.json', OF_PACKAGE] as const, ...FOLLOWERS]) {
    const path = join(root, file)
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll(places, version))
  }
}
