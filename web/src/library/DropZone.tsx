import { useEffect, useRef, useState } from "react";
import { Icon } from "../shell/Icon";
import { dropped, type Named } from "./folders";

/** Accept files and folders that are dropped anywhere on the page, and say what becomes of them. */
export function DropZone({ told, onFiles }: { told: string; onFiles: (files: Named[]) => void }) {
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
    const onDrop = (event: DragEvent) => {
      setOver(false);
      if (!event.dataTransfer?.files.length) return;
      event.preventDefault();
      void dropped(event.dataTransfer.items, event.dataTransfer.files).then((files) => latest.current(files));
    };
    addEventListener("dragover", entered);
    addEventListener("dragleave", left);
    addEventListener("drop", onDrop);
    return () => {
      removeEventListener("dragover", entered);
      removeEventListener("dragleave", left);
      removeEventListener("drop", onDrop);
    };
  }, []);
  return over ? (
    <div className="drop-over" aria-hidden="true">
      <Icon name="upload" /> {told}
    </div>
  ) : null;
}
