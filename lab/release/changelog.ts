/** The changelog is written by people; a release only gives its newest section a number and a date. */

const UNRELEASED = '## [Unreleased]'

/** `date` is a day: 2026-11-16. */
export function withRelease(changelog: string, version: string, date: string): string {
  if (!changelog.includes(UNRELEASED)) throw new Error(`CHANGELOG.md has no section ${UNRELEASED}`)
  if (hasSection(changelog, version)) throw new Error(`CHANGELOG.md has a section of ${version} already`)
  if (sectionOf(changelog, 'Unreleased') === '')
    throw new Error('CHANGELOG.md lists nothing under Unreleased: there is nothing to release')
  return changelog.replace(UNRELEASED, `${UNRELEASED}\n\n## [${version}] - ${date}`)
}

export function hasSection(changelog: string, version: string): boolean {
  return changelog.includes(`\n## [${version}]`)
}

/** The text under the heading of a version. */
export function sectionOf(changelog: string, version: string): string {
  if (!hasSection(changelog, version)) throw new Error(`CHANGELOG.md has no section of ${version}`)
  const start = changelog.indexOf(`\n## [${version}]`) + 1
  const rest = changelog.slice(changelog.indexOf('\n', start))
  const end = rest.search(/^## \[/m)
  return (end === -1 ? rest : rest.slice(0, end)).trim()
}
