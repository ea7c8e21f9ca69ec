/** Folders for tests, and a disk so small that it is soon full. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'

const folders: string[] = []
const mounts: string[] = []
after(() => {
  for (const folder of mounts) execFileSync('umount', ['--lazy', folder])
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

/** Gone after the tests. */
export function testFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'torana-disk-'))
  folders.push(folder)
  return folder
}

/** A separate file system in memory. Undefined where this user may not mount one. */
export function smallDisk(kilobytes: number): string | undefined {
  const folder = testFolder()
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${kilobytes}k`, 'tmpfs', folder], { stdio: 'ignore' })
  } catch {
    return undefined
  }
  mounts.push(folder)
  return folder
}

/** Leaves `freeBytes` free. Returns a function that frees the rest again. */
export function fillDisk(folder: string, freeBytes: number): () => void {
  const { bavail, bsize } = statfsSync(folder)
  const path = join(folder, 'filler')
  writeFileSync(path, Buffer.alloc(Math.max(0, bavail * bsize - freeBytes)))
  return () => rmSync(path)
}
