/** No link of the documentation is broken: neither to a deleted file nor to a renamed heading. */
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { test } from 'node:test'
import { FAULTS } from '#core/fault/table.ts'

const root = join(import.meta.dirname, '../../..')
const FOREIGN = new Set(['node_modules', '.git', '.cache', 'dist', 'public', 'results'])
const pages = globSync('**/*.md', { cwd: root, exclude: (name) => FOREIGN.has(name) }).filter(
  (path) => !path.startsWith('site/src/content/'),
)
const textOf = (path: string) => readFileSync(join(root, path), 'utf8')

assert.ok(pages.length > 40, 'found too few pages: the checks would pass vacuously')

/** Without code, in which brackets mean other things. */
function prose(text: string): string {
  return text
    .replaceAll(/^ *```[\s\S]*?^ *```$/gm, '')
    .replaceAll(/`[^`\n]*`/g, (code) => code.replaceAll(/[[\]()]/g, ''))
}

/** As GitHub makes them: the words in lower case, without signs, with a number after repeated ones. */
function anchorsOf(text: string): ReadonlySet<string> {
  const counts = new Map<string, number>()
  const anchors = [...text.replaceAll(/^ *```[\s\S]*?^ *```$/gm, '').matchAll(/^#{1,6} (.+)$/gm)].map(
    ([, heading = '']) => {
      const words = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase()
      const anchor = words
        .replaceAll(/[^\p{L}\p{N}\p{M}\s_-]/gu, '')
        .trim()
        .replaceAll(/\s/g, '-')
      const count = counts.get(anchor) ?? 0
      counts.set(anchor, count + 1)
      return count === 0 ? anchor : `${anchor}-${count}`
    },
  )
  return new Set([...anchors, ...[...text.matchAll(/\b(?:id|name)="([^"]+)"/g)].map(([, id = '']) => id)])
}

function brokenLinksOf(page: string): string[] {
  const links = [...prose(textOf(page)).matchAll(/\]\(([^)\s]+)\)|\b(?:src|srcset|href)="([^"]+)"/g)]
  return links.flatMap(([, link, attribute]) => {
    const target = link ?? attribute ?? ''
    if (/^(?:[a-z]+:|\/)/.test(target)) return []
    const [path = '', anchor] = target.split('#', 2)
    const file = path === '' ? page : posix.join(dirname(page), path)
    if (!existsSync(join(root, file))) return [`${target}: there is no ${file}`]
    if (anchor === undefined || !file.endsWith('.md')) return []
    return anchorsOf(textOf(file)).has(anchor) ? [] : [`${target}: ${file} has no such heading`]
  })
}

for (const page of pages) {
  test(`${page} has no broken link`, () => assert.deepEqual(brokenLinksOf(page), []))
}

test('every page of docs/ is in its table of contents', () => {
  const index = textOf('docs/README.md')
  const missing = globSync(['docs/*.md', 'docs/inside/*.md'], { cwd: root })
    .map((path) => path.slice('docs/'.length))
    .filter((name) => name !== 'README.md' && !index.includes(`(${name})`))
  assert.deepEqual(missing, [])
})

test('an error that the documentation names with its status has that status', () => {
  const wrong = pages
    .filter((path) => path.startsWith('docs/') && !path.startsWith('docs/decisions/'))
    .flatMap((path) =>
      [...textOf(path).matchAll(/\b([45]\d\d) \[?`([a-z_]+)`/g)].flatMap(([said, status, code = '']) => {
        if (!Object.hasOwn(FAULTS, code)) return code.includes('_') ? [`${path}: ${said} is no code`] : []
        return FAULTS[code as keyof typeof FAULTS].status === Number(status) ? [] : [`${path}: ${said}`]
      }),
    )
  assert.deepEqual(wrong, [])
})

test('every metric that the documentation names is there', () => {
  const code = globSync('src/**/*.ts', { cwd: join(root, 'server') }).map((path) =>
    textOf(join('server', path)),
  )
  // A name may be put together: `torana_limiter_${name}_total`.
  const written = code.flatMap((text) => text.match(/torana_(?:[a-z_]|\$\{\w+\})+/g) ?? [])
  const known = new RegExp(`^(?:${[...new Set(written)].join('|').replaceAll(/\$\{\w+\}/g, '[a-z_]+')})$`)
  const unknown = globSync('docs/*.md', { cwd: root }).flatMap((path) =>
    [...textOf(path).matchAll(/`(torana_[a-z_]+)[`{]/g)]
      .map(([, name = '']) => name.replace(/_(?:bucket|sum|count)$/, ''))
      .filter((name) => !known.test(name))
      .map((name) => `${path}: ${name}`),
  )
  assert.ok(written.length > 30, 'found too few names: the check would pass vacuously')
  assert.deepEqual(unknown, [])
})
