import type { ButtonHTMLAttributes, Ref } from "react";
import { Icon, type IconName } from "./Icon";

interface Props extends ButtonHTMLAttributes<HTMLButtonElement> {
  label: string;
  icon: IconName;
  ref?: Ref<HTMLButtonElement>;
}

/** A button with only an icon. Its label is read out, and shown on hover. */
export function IconButton({ label, icon, className = "", ...rest }: Props) {
  return (
    <button type="button" className={`icon-button ${className}`} aria-label={label} title={label} {...rest}>
      <Icon name={icon} />
    </button>
  );
}
