/** The changelog is written by people; a release only gives its newest section a number and a date. */

const UNRELEASED = '## [Unreleased]'

/** `date` is a day: 2026-11-16. */
export function withRelease(changelog: string, version: string, date: string): string {
  if (!changelog.includes(UNRELEASED)) throw new Error(`CHANGELOG.md has no section ${UNRELEASED}`)
  if (changelog.includes(`## [${version}]`))
    throw new Error(`CHANGELOG.md has a section of ${version} already`)
  return changelog.replace(UNRELEASED, `${UNRELEASED}\n\n## [${version}] - ${date}`)
}

/** What stands under the heading of a version. */
export function sectionOf(changelog: string, version: string): string {
  const start = changelog.indexOf(`## [${version}]`)
  if (start === -1) throw new Error(`CHANGELOG.md has no section of ${version}`)
  const rest = changelog.slice(changelog.indexOf('\n', start))
  const end = rest.search(/^## \[/m)
  return (end === -1 ? rest : rest.slice(0, end)).trim()
}
