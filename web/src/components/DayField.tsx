import { TextInput, type MantineSize } from '@mantine/core'
import { lazy, type ReactNode, Suspense } from 'react'
import { loaded } from '../lib/loading'

export interface DayFieldProps {
  label: string
  /** The label is only for screen readers. */
  hideLabel?: boolean
  description?: ReactNode
  placeholder?: string
  /** Such as 2026-11-24, or empty. */
  value: string
  min?: string
  max?: string
  size?: MantineSize
  clearable?: boolean
  w?: number | string
  onChange: (day: string) => void
}

const DayInput = lazy(() => loaded(() => import('./DayInput')))

/** A day, typed or chosen from a calendar whose weeks begin on Monday. */
export function DayField(props: DayFieldProps) {
  const { label, hideLabel, description, size, w, placeholder } = props
  return (
    <Suspense
      fallback={
        <TextInput
          {...(hideLabel ? { 'aria-label': label } : { label })}
          description={description}
          size={size}
          w={w}
          placeholder={placeholder}
          disabled
        />
      }
    >
      <DayInput {...props} />
    </Suspense>
  )
}
