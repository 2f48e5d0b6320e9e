import { Alert, Button, Group, type ModalProps, Text } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { forget, isKept } from '../lib/kept'
import { notifySuccess } from '../lib/notify'
import { Modal } from './Modal'

/**
 * A dialog with a form, whose fields are kept by useKept with the same name. However it is closed, nothing is lost: it
 * says so, and continues where it was left.
 */
export function FormDialog({
  form,
  onClose,
  children,
  ...props
}: Omit<ModalProps, 'closeButtonProps'> & { form: string }) {
  const { t } = useTranslation()
  const [isRestored, setRestored] = useState(() => isKept(form))
  const [wasOpened, setWasOpened] = useState(props.opened)
  if (wasOpened !== props.opened) {
    setWasOpened(props.opened)
    setRestored(isKept(form))
  }
  const leave = () => {
    if (isKept(form)) notifySuccess(t('form.kept'))
    onClose()
  }
  return (
    <Modal {...props} onClose={leave} closeButtonProps={{ 'aria-label': t('close') }}>
      {isRestored && isKept(form) && (
        <Alert color="blue" p="xs" mb="sm" role="status" data-restored>
          <Group justify="space-between" gap="xs">
            <Text size="sm">{t('form.restored')}</Text>
            <Button size="compact-sm" variant="default" onClick={() => forget(form)}>
              {t('form.discard')}
            </Button>
          </Group>
        </Alert>
      )}
      {children}
    </Modal>
  )
}
