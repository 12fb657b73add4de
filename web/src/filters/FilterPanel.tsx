import { useId } from "react";
import { IconButton } from "../shell/Button";
import { Icon } from "../shell/Icon";
import { words } from "../words/words";
import { type Condition, type Fields, type Filter, OPERATORS, type Operator } from "./where";

interface Props {
  filter: Filter;
  fields: Fields;
  onChange: (filter: Filter) => void;
}

/** The filter on documents for the next questions. */
export function FilterPanel({ filter, fields, onChange }: Props) {
  const names = useId();
  const say = words();
  const change = (at: number, part: Partial<Condition>) =>
    onChange({ ...filter, conditions: filter.conditions.map((one, n) => (n === at ? { ...one, ...part } : one)) });
  const remove = (at: number) => onChange({ ...filter, conditions: filter.conditions.filter((_, n) => n !== at) });
  const more = () =>
    onChange({ ...filter, conditions: [...filter.conditions, { field: "", operator: "=", value: "" }] });

  return (
    <fieldset className="filters">
      <legend>{say.filterLegend}</legend>
      <datalist id={names}>
        {[...fields.keys()].map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      {filter.conditions.map((one, at) => (
        <div className="condition" key={at}>
          <input
            aria-label={say.field}
            list={names}
            placeholder={say.fieldHint}
            value={one.field}
            onChange={(event) => change(at, { field: event.target.value.trim() })}
          />
          <select
            aria-label={say.comparison}
            value={one.operator}
            onChange={(event) => change(at, { operator: event.target.value as Operator })}
          >
            {OPERATORS.map((operator) => (
              <option key={operator}>{operator}</option>
            ))}
          </select>
          <input
            aria-label={say.value}
            list={`${names}-${at}`}
            placeholder={say.valueHint}
            value={one.value}
            onChange={(event) => change(at, { value: event.target.value })}
          />
          <datalist id={`${names}-${at}`}>
            {fields.get(one.field)?.values.map((value) => (
              <option key={value} value={value} />
            ))}
          </datalist>
          <IconButton icon="close" label={say.removeCondition} onClick={() => remove(at)} />
        </div>
      ))}
      <div className="row">
        <button type="button" className="button small" onClick={more}>
          <Icon name="plus" /> {say.addCondition}
        </button>
        <label className="field grow">
          <span className="visually-hidden">{say.filterExpression}</span>
          <input
            placeholder={say.filterHint}
            value={filter.written}
            onChange={(event) => onChange({ ...filter, written: event.target.value })}
          />
        </label>
      </div>
    </fieldset>
  );
}
