/** Copies of the checkout in which files may be changed. */
import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  globSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  symlinkSync,
} from 'node:fs'
import { join } from 'node:path'

/** The working tree with what is not committed yet, without what git ignores. */
export function copyCheckout(root: string, to: string): void {
  const listed = execFileSync('git', ['ls-files', '-coz', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  })
  for (const path of listed.split('\0').filter((name) => name !== '' && existsSync(join(root, name))))
    cpSync(join(root, path), join(to, path), { verbatimSymlinks: true })
  for (const folder of globSync(['node_modules', '*/node_modules'], { cwd: root }))
    linkPackages(root, to, folder)
}

/** Links of workspaces are relative, and lead into the copy; all other packages are those of the checkout. */
function linkPackages(root: string, to: string, folder: string): void {
  mkdirSync(join(to, folder), { recursive: true })
  for (const name of readdirSync(join(root, folder))) {
    const from = join(root, folder, name)
    const target = lstatSync(from).isSymbolicLink() ? readlinkSync(from) : from
    symlinkSync(target, join(to, folder, name))
  }
}
