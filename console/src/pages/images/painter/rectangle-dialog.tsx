/** A rectangle by numbers: the way to paint without a pointer, and the exact one. */
import { useState } from 'react'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { Field } from '../../../ui/field.tsx'
import { NumberInput } from '../../../ui/number-field.tsx'
import { words } from '../../../words/words.ts'
import type { Painting } from './painting.ts'

interface RectangleDialogProps {
  readonly painting: Painting
  readonly onClose: () => void
}

type Edge = 'left' | 'top' | 'width' | 'height'

export function RectangleDialog({ painting, onClose }: RectangleDialogProps) {
  const { width, height } = painting.size
  const [edges, setEdges] = useState<Record<Edge, number>>({
    left: Math.floor(width / 4),
    top: Math.floor(height / 4),
    width: Math.floor(width / 2),
    height: Math.floor(height / 2),
  })
  const text = words.images.rectangle
  const paint = (isPainted: boolean): void => {
    const { left, top } = edges
    painting.rectangle({ left, top, right: left + edges.width, bottom: top + edges.height }, isPainted)
    onClose()
  }
  const most = { left: width, top: height, width, height }
  return (
    <Dialog
      open
      onClose={onClose}
      title={text.title}
      description={text.text(`${width} × ${height}`)}
      actions={
        <>
          <Button onClick={onClose}>{text.cancel}</Button>
          <Button onClick={() => paint(false)}>{text.erase}</Button>
          <Button look="primary" onClick={() => paint(true)}>
            {text.paint}
          </Button>
        </>
      }
    >
      <div className="grid grid-cols-4 gap-3 phone:grid-cols-2">
        {(['left', 'top', 'width', 'height'] as const).map((edge) => (
          <Field key={edge} name={edge} label={text[edge]}>
            <NumberInput
              label={text[edge]}
              value={edges[edge]}
              min={0}
              max={most[edge]}
              format={{ useGrouping: false, maximumFractionDigits: 0 }}
              onChange={(value) => setEdges((before) => ({ ...before, [edge]: Math.round(value ?? 0) }))}
            />
          </Field>
        ))}
      </div>
    </Dialog>
  )
}
