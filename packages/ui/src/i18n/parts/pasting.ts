import pasting from '../en/pasting.json';
import { addTexts } from './add-texts.ts';

addTexts({ pasting });
