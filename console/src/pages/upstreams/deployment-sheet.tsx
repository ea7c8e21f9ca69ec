/** Every field of one deployment in a sheet: there is no room for all of them on a narrow screen. What is typed is pending at once. */
import { Button } from '../../ui/button.tsx'
import { Sheet } from '../../ui/dialog.tsx'
import { words } from '../../words/words.ts'
import {
  DeploymentLimit,
  DeploymentPrice,
  limitHead,
  LIMITS,
  WeightWithWas,
  type RowFieldProps,
} from './deployment-fields.tsx'
import type { Kind } from './price.ts'

interface DeploymentSheetProps extends RowFieldProps {
  readonly kind: Kind
  readonly onClose: () => void
}

export function DeploymentSheet({ row, edit, kind, onClose }: DeploymentSheetProps) {
  const { heads } = words.routing.model
  const fields = [
    [heads.weight, <WeightWithWas key="weight" row={row} edit={edit} />],
    ...LIMITS[kind].map(
      (limit) =>
        [limitHead(limit), <DeploymentLimit key={limit} row={row} edit={edit} limit={limit} />] as const,
    ),
    [heads.price, <DeploymentPrice key="price" row={row} edit={edit} kind={kind} />],
  ] as const
  return (
    <Sheet
      open
      onClose={onClose}
      title={row.upstream}
      actions={
        <Button look="primary" size="large" onClick={onClose}>
          {words.routing.settings.done}
        </Button>
      }
    >
      <div className="flex flex-col gap-4">
        {fields.map(([title, field]) => (
          <div key={title} className="flex flex-col gap-1">
            <span aria-hidden className="text-12 font-strong">
              {title}
            </span>
            {field}
          </div>
        ))}
      </div>
    </Sheet>
  )
}
