import { Module } from '@nestjs/common';
import { AtlasController } from './atlas.controller.js';

@Module({ controllers: [AtlasController] })
export class AtlasModule {}
