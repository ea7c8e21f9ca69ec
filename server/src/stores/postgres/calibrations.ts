import type { Calibration } from '#core/embedding/vector-types/calibration.ts'
import { decodeBase64, encodeBase64 } from '#core/embedding/vector.ts'
import type { Actor } from '#ports/audit.ts'
import { plainArray } from './arrays.ts'
import { writeAudit } from './audit.ts'
import type { Database, Sql } from './database.ts'

interface CalibrationRow {
  readonly id: string
  readonly model: string
  readonly space: string
  readonly width: number
  readonly mins: Buffer
  readonly maxs: Buffer
  readonly vectors: number
  readonly made_at: Date
  readonly made_by: string
}

const ADD = `
INSERT INTO space_calibrations (id, model, space, width, mins, maxs, vectors, made_at, made_by)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (id) DO NOTHING RETURNING 1`

export async function calibrationsBeyond(
  sql: Sql,
  known: readonly string[],
): Promise<readonly Calibration[]> {
  const rows = await sql.query<CalibrationRow>(
    'SELECT * FROM space_calibrations WHERE id <> ALL ($1::text[]) ORDER BY made_at, id',
    [plainArray(known)],
  )
  return rows.map(calibrationOf)
}

export async function addCalibration(
  database: Database,
  calibration: Calibration,
  actor: Actor,
): Promise<Calibration> {
  return database.transaction(async (sql) => {
    const { id, model, space, width, mins, maxs, vectors, madeAtMs, madeBy } = calibration
    const values = [
      id,
      model,
      space,
      width,
      bytesOf(mins),
      bytesOf(maxs),
      vectors,
      new Date(madeAtMs),
      madeBy,
    ]
    const added = await sql.query(ADD, values)
    if (added.length > 0)
      await writeAudit(sql, database.auditChain, {
        actor,
        action: 'space.calibrate',
        target: model,
        detail: { calibration: id, space, width, vectors },
      })
    const [row] = await sql.query<CalibrationRow>('SELECT * FROM space_calibrations WHERE id = $1', [id])
    return calibrationOf(row as CalibrationRow)
  })
}

function bytesOf(values: Float32Array): Buffer {
  return Buffer.from(encodeBase64(values), 'base64')
}

function calibrationOf(row: CalibrationRow): Calibration {
  const { id, model, space, width, vectors } = row
  const mins = decodeBase64(row.mins.toString('base64'))
  const maxs = decodeBase64(row.maxs.toString('base64'))
  return {
    id,
    model,
    space,
    width,
    mins,
    maxs,
    vectors,
    madeAtMs: row.made_at.getTime(),
    madeBy: row.made_by,
  }
}
