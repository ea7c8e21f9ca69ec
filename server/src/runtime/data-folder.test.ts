import assert from 'node:assert/strict'
import { test } from 'node:test'
import { safetyProblem } from './data-folder.ts'

const [ROOT, OURS, THEIRS] = [0, 1000, 1001]

for (const [what, uid, mode, words] of [
  ['a private folder', OURS, 0o700, undefined],
  ['a folder that others may read, as systemd makes it: its files are private', OURS, 0o755, undefined],
  ["a volume of root's that is given to a group", ROOT, 0o2775, undefined],
  ["somebody else's folder", THEIRS, 0o700, /belongs to another user \(1001\).*chown -R 1000/],
  ['a folder that its group may write', OURS, 0o770, /chmod 700/],
  ['a folder that everybody may write', OURS, 0o777, /chmod 700/],
  ["a folder of root's that everybody may write", ROOT, 0o1777, /a folder below it.*: \/data\/torana/],
] as const)
  test(`${what} is ${words === undefined ? 'taken' : 'refused'} as data folder`, () => {
    const problem = safetyProblem('/data', { uid, mode: 0o040000 | mode }, OURS)
    if (words === undefined) assert.equal(problem, undefined)
    else assert.match(problem ?? '', words)
  })
