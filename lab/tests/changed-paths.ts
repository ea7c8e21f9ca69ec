/** What changed since the commit that a change starts from. */
import { execFileSync } from 'node:child_process'
import { ROOT } from './test-files.ts'

/** Undefined: there is no such commit (a fresh clone, a release), or `CI_ALL=1` asks for everything. */
export function listChangedPaths(env: NodeJS.ProcessEnv = process.env, root = ROOT): string[] | undefined {
  if (env['CI_ALL'] === '1') return undefined
  const base = env['CI_BASE'] || 'origin/main'
  try {
    const start = git(root, 'merge-base', 'HEAD', base)
    const committed = git(root, 'diff', '--name-only', '--no-renames', `${start}...HEAD`)
    const open = git(root, 'diff', '--name-only', '--no-renames', 'HEAD')
    const fresh = git(root, 'ls-files', '--others', '--exclude-standard')
    const paths = [committed, open, fresh].flatMap((list) => list.split('\n')).filter(Boolean)
    return paths.length === 0 ? undefined : [...new Set(paths)]
  } catch {
    // No git, no such commit, or a clone that is not deep enough.
    return undefined
  }
}

function git(root: string, ...args: readonly string[]): string {
  return execFileSync('git', ['-c', 'core.quotePath=false', ...args], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim()
}
