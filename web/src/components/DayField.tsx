import { TextInput, type MantineSize } from '@mantine/core'
import { lazy, type ReactNode, Suspense } from 'react'

export interface DayFieldProps {
  label: string
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

const DayInput = lazy(() => import('./DayInput'))

/** A day, typed or chosen from a calendar whose weeks begin on Monday. */
export function DayField(props: DayFieldProps) {
  const { label, description, size, w, placeholder } = props
  return (
    <Suspense
      fallback={
        <TextInput label={label} description={description} size={size} w={w} placeholder={placeholder} disabled />
      }
    >
      <DayInput {...props} />
    </Suspense>
  )
}
