import { Button, Group, Text } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Modal } from './Modal'

interface Question {
  title: string
  /** What will happen, and whether it can be undone. */
  text: string
  /** The label of the confirming button. */
  action: string
  danger?: boolean
  run: () => void
}

/** Asks for confirmation of an action. Returns the dialog and a function that opens it. */
export function useConfirm(): [dialog: ReactNode, ask: (q: Question) => void] {
  const { t } = useTranslation()
  const [opened, setOpened] = useState(false)
  const [q, setQuestion] = useState<Question>()
  const close = () => setOpened(false)
  const dialog = q && (
    <Modal opened={opened} onClose={close} title={q.title} closeButtonProps={{ 'aria-label': t('close') }}>
      <Text size="sm">{q.text}</Text>
      <Group justify="flex-end" mt="lg" gap="xs">
        <Button variant="default" onClick={close} data-autofocus>
          {t('cancel')}
        </Button>
        <Button
          color={q.danger ? 'red' : undefined}
          onClick={() => {
            close()
            q.run()
          }}
        >
          {q.action}
        </Button>
      </Group>
    </Modal>
  )
  return [
    dialog,
    (question) => {
      setQuestion(question)
      setOpened(true)
    },
  ]
}
