import { useEffect, useRef, useState } from "react";
import { Icon } from "../shell/Icon";

/** Accept files that are dropped anywhere on the page. */
export function DropZone({ onFiles }: { onFiles: (files: FileList) => void }) {
  const [over, setOver] = useState(false);
  const latest = useRef(onFiles);
  latest.current = onFiles;
  useEffect(() => {
    const entered = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      setOver(true);
    };
    const left = (event: DragEvent) => {
      if (!event.relatedTarget) setOver(false);
    };
    const dropped = (event: DragEvent) => {
      setOver(false);
      if (!event.dataTransfer?.files.length) return;
      event.preventDefault();
      latest.current(event.dataTransfer.files);
    };
    addEventListener("dragover", entered);
    addEventListener("dragleave", left);
    addEventListener("drop", dropped);
    return () => {
      removeEventListener("dragover", entered);
      removeEventListener("dragleave", left);
      removeEventListener("drop", dropped);
    };
  }, []);
  return over ? (
    <div className="drop-over" aria-hidden="true">
      <Icon name="upload" /> Drop to add
    </div>
  ) : null;
}
