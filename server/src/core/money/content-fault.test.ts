import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isContentFault } from './content-fault.ts'

const ROWS: readonly (readonly [sqlState: string, means: string, isContent: boolean])[] = [
  ['22001', 'a text is too long', true],
  ['22003', 'a number is out of range', true],
  ['22021', 'a text has a byte that the encoding has not', true],
  ['22P05', 'a text has a character that jsonb can not hold', true],
  ['23502', 'a value is missing', true],
  ['23503', 'what it refers to does not exist', true],
  ['23514', 'a check fails, or the day has no partition', true],
  ['23505', 'an index has the entry already', false],
  ['08006', 'the connection broke', false],
  ['0A000', 'not supported', false],
  ['25006', 'read-only', false],
  ['26000', 'the prepared statement is gone: a pooler in transaction mode', false],
  ['28P01', 'wrong password', false],
  ['40001', 'conflict with others', false],
  ['42501', 'no right', false],
  ['42703', 'no such column', false],
  ['42P01', 'no such table', false],
  ['42P05', 'the prepared statement exists: a pooler in transaction mode', false],
  ['53100', 'the disk is full', false],
  ['54000', 'a limit of the program', false],
  ['55P03', 'a lock is held', false],
  ['57014', 'cancelled', false],
  ['58030', 'a fault of input or output', false],
  ['P0001', 'a trigger raised it', false],
  ['XX001', 'damaged data', false],
  ['XX002', 'a damaged index', false],
  ['99999', 'unknown', false],
  ['', 'none', false],
]

for (const [sqlState, means, isContent] of ROWS)
  test(`${sqlState} (${means}) is a fault of ${isContent ? 'the entry' : 'schema, rights or server'}`, () => {
    assert.equal(isContentFault(sqlState), isContent)
  })
