import { useNavigate } from '@tanstack/react-router'
import { useCallback } from 'react'

/** Changes parameters of the present address: `useChangeSearch<SearchOf<typeof keys>>()`. Undefined takes one away. */
export function useChangeSearch<Search extends object = never>(): (
  change: Partial<Search>,
  options?: { readonly replace?: boolean },
) => void {
  const navigate = useNavigate()
  return useCallback(
    (change, { replace = false } = {}) =>
      void navigate({ to: '.', search: (before: object) => ({ ...before, ...change }), replace }),
    [navigate],
  )
}

/** A sheet, dialog or menu that an address opens, such as `?new=1`: the name of the parameter, and its value. */
export function useOpened(
  name: 'new' | 'export' | 'password',
  value: true | undefined,
): readonly [isOpen: boolean, setOpen: (isOpen: boolean) => void] {
  const change = useChangeSearch<Record<string, true | undefined>>()
  return [value === true, (next) => change({ [name]: next || undefined }, { replace: !next })]
}
