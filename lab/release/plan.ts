/** What a commit on main releases. A version is due once the changelog has a section of it, and until its package is published. */
import { hasSection, sectionOf } from './changelog.ts'

export interface State {
  readonly version: string
  readonly changelog: string
  /** Files that carry another version, each as a sentence. */
  readonly strayVersions: readonly string[]
  /** The repository that the registry names for this version of the package; undefined if it has no such version. */
  readonly publishedFrom: string | undefined
  readonly ownRepository: string
  readonly commit: string
  /** Undefined before the version has a tag. The tag comes before the package: it can be taken back. */
  readonly taggedCommit: string | undefined
}

export interface Plan {
  readonly next: 'nothing' | 'release'
  readonly why: string
  /** False in a release that broke off after this step, and goes on. */
  readonly tags: boolean
  readonly publishes: boolean
  readonly notes: string
}

/** Throws where a release is due and cannot be made: nothing may be published then. */
export function planOf(state: State): Plan {
  const { version, changelog, publishedFrom, taggedCommit } = state
  if (!hasSection(changelog, version))
    return nothing(`CHANGELOG.md has no section of ${version}: it is not due`, '')
  const notes = sectionOf(changelog, version)
  if (publishedFrom !== undefined) {
    if (publishedFrom !== state.ownRepository)
      throw new Error(`${version} in the registry is not ours: it comes from ${publishedFrom}`)
    if (taggedCommit === undefined)
      throw new Error(`${version} is published without a tag: tag the commit that it was made from`)
    return nothing(`${version} is published`, notes)
  }
  if (state.strayVersions.length > 0) throw new Error(state.strayVersions.join('; '))
  if (notes === '') throw new Error(`the section of ${version} in CHANGELOG.md is empty`)
  if (taggedCommit !== undefined && taggedCommit !== state.commit)
    throw new Error(
      `v${version} is the tag of ${taggedCommit}, whose release broke off: run that release again, or raise the version`,
    )
  const tags = taggedCommit === undefined
  const why = tags ? `${version} is not published yet` : `${version} has its tag and is not published yet`
  return { next: 'release', why, tags, publishes: true, notes }
}

function nothing(why: string, notes: string): Plan {
  return { next: 'nothing', why, tags: false, publishes: false, notes }
}
