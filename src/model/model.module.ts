import { Module } from '@nestjs/common';
import { ModelController } from './model.controller.js';

@Module({ controllers: [ModelController] })
export class ModelModule {}
